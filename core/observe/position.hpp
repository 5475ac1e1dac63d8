// A place in the stream of changes: the same on every node of a cluster, so an observer can move
// from one node to another with it (S46). It says whose stream it is: another cluster has the same
// places with other changes, for example one that was begun anew under the same name.
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
    std::uint32_t cluster = 0;  // NodeCore::note_cluster(); zero: not known, as in texts of 0.2

    // Everything up to this entry, with all its changes.
    [[nodiscard]] static constexpr Position after(LogIndex index, std::uint32_t cluster = 0) {
        return {index, whole_entry, cluster};
    }
    [[nodiscard]] bool is_set() const { return index.is_set(); }
    // Every era of a cluster (docs/decisions/0095) has a mark that is greater by one.
    [[nodiscard]] bool is_of_later_era(std::uint32_t mark) const {
        constexpr std::uint32_t eras_max = 1U << 16U;
        return cluster != 0 && mark != 0 && cluster != mark && cluster - mark <= eras_max;
    }
    // It is certainly not one of the cluster with this mark, or of an earlier era of it.
    [[nodiscard]] bool is_foreign_to(std::uint32_t mark) const {
        return cluster != 0 && mark != 0 && cluster != mark && !is_of_later_era(mark);
    }

    // Compares the places, which have an order within one cluster only.
    friend constexpr bool operator==(const Position& a, const Position& b) {
        return a.index == b.index && a.ordinal == b.ordinal;
    }
    friend constexpr std::strong_ordering operator<=>(const Position& a, const Position& b) {
        const auto by_index = a.index <=> b.index;
        return by_index != 0 ? by_index : a.ordinal <=> b.ordinal;
    }
};

// "4711.2.77": the second change of entry 4711, in the cluster with the mark 77. "4711.0.77" for a
// whole entry; without the last part, "4711.2" and "4711", if the cluster is not known; "0" if it
// is not set.
[[nodiscard]] std::string to_text(Position position);
// Accepts exactly what to_text() returns.
[[nodiscard]] std::optional<Position> position_from(std::string_view text);

}  // namespace mortise::core
