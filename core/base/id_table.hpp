// A table of values by identifier, in one block of memory: it allocates only when it grows. Entries
// move whenever one is added or removed, so no pointer into it lives longer than that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/check.hpp"

namespace mortise::core {

// Key is an Id (ids.hpp), or another type with is_set(), raw() and an unset default value. Linear
// probing with removal by shifting back (Knuth, TAOCP 3, 6.4, algorithm R).
template <class Key, class Value>
class IdTable {
public:
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }
    [[nodiscard]] bool contains(Key key) const { return find(key) != nullptr; }

    // Null when the key has no value.
    [[nodiscard]] const Value* find(Key key) const {
        if (size_ == 0 || !key.is_set()) return nullptr;
        for (auto at = home(key);; at = behind(at)) {
            if (slots_[at].first == key) return &slots_[at].second;
            if (!slots_[at].first.is_set()) return nullptr;
        }
    }
    [[nodiscard]] Value* find(Key key) {
        return const_cast<Value*>(std::as_const(*this).find(key));
    }

    // Requires a key that is set and has no value yet.
    Value& insert(Key key, Value value) {
        MORTISE_CHECK(key.is_set());
        if (2 * (size_ + 1) > slots_.size()) grow();
        auto at = home(key);
        for (; slots_[at].first.is_set(); at = behind(at))
            MORTISE_CHECK(slots_[at].first != key);
        ++size_;
        slots_[at].first = key;
        slots_[at].second = std::move(value);
        return slots_[at].second;
    }

    // Removes the value of that key. Nothing when there is none.
    std::optional<Value> take(Key key) {
        auto* found = find(key);
        if (found == nullptr) return std::nullopt;
        std::optional<Value> taken{std::move(*found)};
        close_gap(index_of(key));
        --size_;
        return taken;
    }

    void clear() {
        slots_.clear();
        size_ = 0;
    }

    // Visits every entry as (key, value), in no particular order.
    template <class Visit>
    void each(const Visit& visit) const {
        for (const auto& [key, value] : slots_) {
            if (key.is_set()) visit(key, value);
        }
    }
    // Visits the entries from that slot on as (key, value) until visit() returns false: then `slot`
    // is where to go on. True if it came to the end.
    template <class Visit>
    bool each_from(std::size_t& slot, const Visit& visit) {
        for (; slot < slots_.size(); ++slot) {
            auto& [key, value] = slots_[slot];
            if (key.is_set() && !visit(key, value)) return false;
        }
        return true;
    }

private:
    using Slots = std::vector<std::pair<Key, Value>>;
    static constexpr std::size_t slots_min = 16;

    [[nodiscard]] std::size_t home(Key key) const {
        // Fibonacci hashing, because consecutive numbers would otherwise form long runs of used
        // slots.
        constexpr std::uint64_t golden = 0x9E37'79B9'7F4A'7C15;
        return static_cast<std::size_t>((key.raw() * golden) >> 32U) & (slots_.size() - 1);
    }
    [[nodiscard]] std::size_t behind(std::size_t at) const {
        return (at + 1) & (slots_.size() - 1);
    }

    [[nodiscard]] std::size_t index_of(Key key) const {
        auto at = home(key);
        while (slots_[at].first != key)
            at = behind(at);
        return at;
    }

    void close_gap(std::size_t gap) {
        for (auto at = behind(gap); slots_[at].first.is_set(); at = behind(at)) {
            const auto mask = slots_.size() - 1;
            const auto from_home = (at - home(slots_[at].first)) & mask;
            if (from_home < ((at - gap) & mask)) continue;
            slots_[gap] = std::move(slots_[at]);
            gap = at;
        }
        slots_[gap] = {};
    }

    void grow() {
        Slots former(slots_.empty() ? slots_min : 2 * slots_.size());
        former.swap(slots_);
        size_ = 0;
        for (auto& [key, value] : former) {
            if (key.is_set()) insert(key, std::move(value));
        }
    }

    Slots slots_;
    std::size_t size_ = 0;
};

}  // namespace mortise::core
