// Every entry that any node ever had in its log, by index and term. Log matching, incrementally: if
// index and term always name the same content and the same predecessor, then by induction two logs
// that share an entry share everything before it (thesis 3.5).
#pragma once

#include <vector>

#include "core/raft/entry.hpp"
#include "tests/sim/base/violations.hpp"

namespace mortise::sim {

class LogHistory {
public:
    explicit LogHistory(Violations& violations) : violations_{violations} {}

    // `node` has appended `entry` after one of term `previous`.
    void appended(core::NodeId node, const core::Entry& entry, core::Term previous);
    // For sweeps: the entry of `node` equals the one that was appended with that index and term.
    void check(core::NodeId node, const core::Entry& entry);

private:
    struct Known {
        core::Term term;
        core::Term previous;
        std::uint64_t checksum = 0;
    };
    struct Slot {
        Known first;
        std::vector<Known> others;  // rarely any
    };
    [[nodiscard]] const Known* find(core::LogId id) const;

    Violations& violations_;
    std::vector<Slot> slots_;
};

}  // namespace mortise::sim
