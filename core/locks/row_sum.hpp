// A sum over all rows of a state that moves with the rows that change, so that replicas can compare
// what they have at little cost. The order in which rows change does not show in it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

namespace mortise::core {

class RowSum {
public:
    // The row has this value from now on, or is gone.
    void put(std::string_view key, const std::optional<std::string_view>& value);
    [[nodiscard]] std::uint64_t value() const { return sum_; }

private:
    std::map<std::uint64_t, std::uint64_t> rows_;  // checksums, by that of the key
    std::uint64_t sum_ = 0;
};

}  // namespace mortise::core
