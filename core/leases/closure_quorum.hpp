// The leader's side of closures (S24), as ExpiryQuorum is that of sessions: a majority of the
// voters decides that the time of one is over, and no clock alone does.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "core/base/ids.hpp"
#include "core/locks/command.hpp"
#include "core/raft/configuration.hpp"

namespace mortise::core {

class ClosureQuorum {
public:
    // What a member reported in an append reply. That a time is over stays true.
    void report(NodeId from, const std::vector<ClosureId>& run_out);
    // Nothing that was heard or decided in another term counts.
    void clear();
    void forget(ClosureId closure);

    // The closures to end now, each once: those that ran out at a majority of the voters, counted
    // now, this node's `own` included, and that are still there.
    using IsThere = std::function<bool(ClosureId)>;
    [[nodiscard]] std::vector<EndClosure> decide(const Configuration& configuration, NodeId self,
                                                 const std::set<ClosureId>& own,
                                                 const IsThere& is_there);

private:
    std::map<ClosureId, std::set<NodeId>> reported_;
    std::set<ClosureId> decided_;
};

}  // namespace mortise::core
