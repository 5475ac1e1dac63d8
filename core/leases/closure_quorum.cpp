#include "core/leases/closure_quorum.hpp"

#include "core/base/mutant.hpp"
#include "core/raft/quorum.hpp"

namespace mortise::core {

void ClosureQuorum::report(NodeId from, const std::vector<ClosureId>& run_out) {
    for (const auto closure : run_out)
        reported_[closure].insert(from);
}

void ClosureQuorum::clear() {
    reported_.clear();
    decided_.clear();
}

void ClosureQuorum::forget(ClosureId closure) {
    reported_.erase(closure);
    decided_.erase(closure);
}

std::vector<EndClosure> ClosureQuorum::decide(const Configuration& configuration, NodeId self,
                                              const std::set<ClosureId>& own,
                                              const IsThere& is_there) {
    std::vector<EndClosure> ended;
    for (const auto closure : own)
        reported_[closure];
    // Answers may be older than the end of what they name.
    std::erase_if(reported_, [&](const auto& entry) { return !is_there(entry.first); });
    for (const auto& [closure, members] : reported_) {
        const auto& who = members;
        const bool is_own = own.contains(closure);
        const bool alone = planted(Mutant::broken_by_leader_alone) && is_own;
        const bool agreed = alone || has_quorum(configuration, [&](NodeId id) {
                                return id == self ? is_own : who.contains(id);
                            });
        if (agreed && decided_.insert(closure).second) ended.push_back({closure});
    }
    return ended;
}

}  // namespace mortise::core
