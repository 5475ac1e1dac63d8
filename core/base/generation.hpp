// Who a node is: one run of it on one data directory. All rules about which of two runs counts are
// here; what a run has forgotten is in core/node/peer_memory.hpp.
#pragma once

#include <cstdint>

#include "core/base/ids.hpp"

namespace mortise::core {

struct Generation {
    Incarnation incarnation;  // of the data directory
    BootEpoch boot_epoch;     // of this start on it
    // Drawn at random at each start: two runs of one boot epoch are runs of two copies of the
    // directory. The log does not have it.
    std::uint64_t life = 0;

    // It is somebody's: a node has both, and a client neither.
    [[nodiscard]] constexpr bool is_set() const {
        return incarnation.is_set() && boot_epoch.is_set();
    }
    // The same without its life, as in the log.
    [[nodiscard]] constexpr Generation start() const { return {incarnation, boot_epoch}; }

    // The same boot epoch of the same directory. Of two such runs one is that of a copy, unless
    // they are the same.
    [[nodiscard]] constexpr bool is_same_start(const Generation& other) const {
        return start() == other.start();
    }
    // Of the same directory, from before the other's start.
    [[nodiscard]] constexpr bool is_earlier_than(const Generation& other) const {
        return incarnation == other.incarnation && boot_epoch < other.boot_epoch;
    }
    // It does not count beside the other, which was known first: it is from an earlier start of
    // that directory, or of a copy of it.
    [[nodiscard]] constexpr bool is_outlived_by(const Generation& other) const {
        return is_earlier_than(other) || (is_same_start(other) && life != other.life);
    }

    // The same run.
    friend constexpr bool operator==(const Generation&, const Generation&) = default;
};

}  // namespace mortise::core
