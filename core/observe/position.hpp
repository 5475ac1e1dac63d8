// A place in the stream of changes: the same on every node of a cluster, so an observer can move
// from one node to another with it (S46).
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.hpp"

namespace mortise::core {

// It includes everything up to the change with this ordinal, counted from 1 in the entry with this
// index. Not set: the observer has nothing yet.
struct Position {
    static constexpr auto whole_entry = std::numeric_limits<std::uint32_t>::max();

    LogIndex index;
    std::uint32_t ordinal = 0;

    // Everything up to this entry, with all its changes.
    [[nodiscard]] static constexpr Position after(LogIndex index) { return {index, whole_entry}; }
    [[nodiscard]] bool is_set() const { return index.is_set(); }

    friend constexpr bool operator==(const Position&, const Position&) = default;
    friend constexpr auto operator<=>(const Position&, const Position&) = default;
};

// "4711.2", "4711" for a whole entry, "0" if it is not set.
[[nodiscard]] std::string to_text(Position position);
// Accepts exactly what to_text() returns.
[[nodiscard]] std::optional<Position> position_from(std::string_view text);

}  // namespace mortise::core
