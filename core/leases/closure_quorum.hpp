// The leader's side of closures (S24), as ExpiryQuorum is that of sessions: a majority of the
// voters decides that the time of one is over, and no clock alone does.
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
    // Nothing that was heard or decided in another term counts.
    void clear() { quorum_.clear(); }
    void forget(ClosureId closure);

    // The closures to end now, each once: those that ran out at a majority of the voters, counted
    // now, this node's `own` included, and that are still there.
    using IsThere = std::function<bool(ClosureId)>;
    [[nodiscard]] std::vector<EndClosure> decide(const Configuration& configuration, NodeId self,
                                                 const std::set<ClosureId>& own,
                                                 const IsThere& is_there);

private:
    RunOutQuorum<ClosureId> quorum_;
};

}  // namespace mortise::core
