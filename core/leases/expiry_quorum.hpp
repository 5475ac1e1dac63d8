// The leader's side of expiry (S4): whose countdowns ran out where, and when that is enough. One
// fast clock expires nothing; a leader that lost touch, or is new, waits first.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "core/base/instant.hpp"
#include "core/leases/run_out.hpp"
#include "core/leases/run_out_quorum.hpp"
#include "core/locks/command.hpp"
#include "core/locks/session_table.hpp"
#include "core/raft/configuration.hpp"

namespace mortise::core {

class ExpiryQuorum {
public:
    // What a member reported in its newest append reply. Kept although a later reply may have been
    // overtaken by it: a countdown that ran out stays so.
    void report(NodeId from, const std::vector<RunOut>& run_out) { quorum_.report(from, run_out); }
    // Nothing that was heard or decided in another term counts.
    void clear() { quorum_.clear(); }
    void forget(SessionId session);

    // The sessions to expire now, each once per renewal: those whose last renewal ran out at a
    // majority of the voters, counted now, this node's `own` included. Never one from which a
    // renewal is on its way.
    using HasRenewal = std::function<bool(SessionId)>;
    [[nodiscard]] std::vector<Expire> decide(const Configuration& configuration, NodeId self,
                                             const std::set<RunOut>& own,
                                             const SessionTable& sessions,
                                             const HasRenewal& has_renewal);

    // What is kept for a decision still to come.
    [[nodiscard]] std::size_t pending() const { return quorum_.pending(); }

private:
    RunOutQuorum<RunOut> quorum_;
};

}  // namespace mortise::core
