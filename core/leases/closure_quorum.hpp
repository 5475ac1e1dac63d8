// The leader's part of quorum timers (S24), like ExpiryQuorum for sessions: a timer ends when a
// majority of the voters has counted it down, and no clock alone decides.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "core/base/ids.hpp"
#include "core/leases/run_out_quorum.hpp"
#include "core/locks/command.hpp"
#include "core/raft/configuration.hpp"

namespace mortise::core {

class ClosureQuorum {
public:
    // What a member reported in an append reply.
    void report(NodeId from, const std::vector<ClosureId>& run_out) {
        quorum_.report(from, run_out);
    }
    // Drops what was reported or decided in another term.
    void clear() { quorum_.clear(); }
    void forget(ClosureId closure);

    // The quorum timers to end now, each once: those that still exist and have elapsed at a
    // majority of the present voters, including this node's `own`.
    using IsThere = std::function<bool(ClosureId)>;
    [[nodiscard]] std::vector<EndClosure> decide(const Configuration& configuration, NodeId self,
                                                 const std::set<ClosureId>& own,
                                                 const IsThere& is_there);

private:
    RunOutQuorum<ClosureId> quorum_;
};

}  // namespace mortise::core
