// Values that are stored once and identified by a number. Two values are the same if their
// identities are.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>

namespace mortise::explore {

using Number = std::uint32_t;

template <class Value>
class Interned {
public:
    template <class Maker>
    Number add(std::string identity, const Maker& make) {
        const auto number = static_cast<Number>(values_.size());
        const auto [place, is_new] = numbers_.emplace(std::move(identity), number);
        if (is_new) values_.push_back(make());
        return place->second;
    }

    [[nodiscard]] const Value& operator[](Number number) const { return values_[number]; }
    [[nodiscard]] std::size_t size() const { return values_.size(); }

private:
    std::unordered_map<std::string, Number> numbers_;
    std::deque<Value> values_;  // references stay valid
};

}  // namespace mortise::explore
