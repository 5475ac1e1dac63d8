// The identity of a running node: one run of it on one data directory. This file has all rules that
// decide which of two runs counts; core/node/peer_memory.hpp detects what a directory has lost.
#pragma once

#include <cstdint>

#include "core/base/ids.hpp"

namespace mortise::core {

struct Generation {
    Incarnation incarnation;  // of the data directory
    BootEpoch boot_epoch;     // of this start on it
    // Drawn at random at each start. Two runs with one boot epoch use two copies of the directory.
    // The log does not record this number.
    std::uint64_t life = 0;

    // True if this identifies a run of a node; a client has none.
    [[nodiscard]] constexpr bool is_set() const {
        return incarnation.is_set() && boot_epoch.is_set();
    }
    // The generation without its life, as the log has it.
    [[nodiscard]] constexpr Generation start() const { return {incarnation, boot_epoch}; }

    // Both have the same boot epoch of the same directory. If they are different runs, one of them
    // runs on a copy of the directory.
    [[nodiscard]] constexpr bool is_same_start(const Generation& other) const {
        return start() == other.start();
    }
    // This run started earlier on the same directory than the other.
    [[nodiscard]] constexpr bool is_earlier_than(const Generation& other) const {
        return incarnation == other.incarnation && boot_epoch < other.boot_epoch;
    }
    // This run is rejected once the other is known: it started earlier on that directory, or it
    // runs on a copy of it.
    [[nodiscard]] constexpr bool is_outlived_by(const Generation& other) const {
        return is_earlier_than(other) || (is_same_start(other) && life != other.life);
    }

    // Equal generations are the same run.
    friend constexpr bool operator==(const Generation&, const Generation&) = default;
};

}  // namespace mortise::core
