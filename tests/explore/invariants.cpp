#include "tests/explore/invariants.hpp"

#include <algorithm>

#include "core/raft/quorum.hpp"

namespace mortise::explore {

namespace {

// If two logs are equal at an index, they are equal below it.
bool matches(const std::vector<EntryMark>& a, const std::vector<EntryMark>& b) {
    auto index = std::min(a.size(), b.size());
    while (index > 0 && a[index - 1].term != b[index - 1].term)
        --index;
    return std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(index), b.begin());
}

bool has(const std::vector<EntryMark>& log, const History& history, std::size_t place) {
    return place < log.size() && log[place] == history.committed[place].entry;
}

bool log_matching(const Cluster& cluster) {
    for (std::size_t a = 0; a < cluster_size; ++a) {
        for (auto b = a + 1; b < cluster_size; ++b) {
            if (!matches(cluster[a]->log, cluster[b]->log)) return false;
            if (!matches(cluster[a]->disk, cluster[b]->disk)) return false;
        }
    }
    return true;
}

bool leader_completeness(const Known& known, const History& history) {
    const auto& raft = known.machine.raft;
    if (!raft.is_leader()) return true;
    for (std::size_t i = 0; i < history.committed.size(); ++i) {
        if (history.committed[i].in < raft.term() && !has(known.log, history, i)) return false;
    }
    return true;
}

bool state_machine_safety(const Known& known, const History& history) {
    const auto commit = known.machine.raft.commit_index().raw();
    for (std::size_t i = 0; i < commit; ++i) {
        if (!has(known.log, history, i)) return false;
    }
    return true;
}

// Every committed entry is on the disks of a majority, whichever node crashes next. A node that may
// have forgotten it elects nobody before it has it again.
bool durability(const Cluster& cluster, const History& history) {
    for (std::size_t i = 0; i < history.committed.size(); ++i) {
        const auto copies = std::ranges::count_if(cluster, [&](const Known* known) {
            return known->machine.raft.is_forgetful() || has(known->disk, history, i);
        });
        if (static_cast<std::size_t>(copies) < core::majority_of(cluster_size)) return false;
    }
    return true;
}

}  // namespace

std::string violation(const Cluster& cluster, const History& history) {
    if (!log_matching(cluster)) return "log matching: equal at an index, different below";
    for (const auto* known : cluster) {
        if (!state_machine_safety(*known, history))
            return "state machine safety: two entries committed at one index";
        if (!leader_completeness(*known, history))
            return "leader completeness: a leader lacks a committed entry";
    }
    if (!durability(cluster, history))
        return "durability: a committed entry is on less than a majority of disks";
    return {};
}

}  // namespace mortise::explore
