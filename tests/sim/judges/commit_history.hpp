// What was reported committed, by whichever node first: one entry for each index, finally (state
// machine safety), and what later leaders must have (leader completeness; thesis 3.6.3).
#pragma once

#include <vector>

#include "core/raft/log.hpp"
#include "tests/sim/base/violations.hpp"

namespace mortise::sim {

class CommitHistory {
public:
    explicit CommitHistory(Violations& violations) : violations_{violations} {}

    // `node` reports it, in `term`. True if it is the first report.
    bool committed(core::NodeId node, const core::Entry& entry, core::Term term);
    // `node` leads in `term` and knows `from` to be committed: it must also have every later entry
    // that was committed in an earlier term.
    void check_leader(core::NodeId node, const core::Log& log, core::Term term,
                      core::LogIndex from);
    // `node` starts: its state has everything up to `applied`, from this log.
    void check_start(core::NodeId node, core::LogIndex applied);

    // The only disk with the first entry was replaced: the cluster was never formed.
    void forget_founding() {
        if (entries_.size() == 1) entries_.clear();
    }

    [[nodiscard]] core::LogIndex last() const { return core::LogIndex{entries_.size()}; }
    // Requires 1 <= index <= last().
    [[nodiscard]] core::LogId at(core::LogIndex index) const {
        return {entries_[place(index)].term, index};
    }

private:
    struct Committed {
        core::Term term;         // of the entry
        core::Term reported_in;  // the term in which it was first reported committed
        std::uint64_t checksum = 0;
    };
    static std::size_t place(core::LogIndex index) {
        return static_cast<std::size_t>(index.raw() - 1);
    }

    Violations& violations_;
    std::vector<Committed> entries_;
};

}  // namespace mortise::sim
