// The leader's part of expiry (S4): which countdowns have elapsed at which voters, and whether they
// are enough. One fast clock expires nothing; a leader that is new or had lost touch waits first.
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
    // What a member reported in its newest append reply. Replies may arrive out of order, which
    // does no harm: an elapsed countdown stays elapsed.
    void report(NodeId from, const std::vector<RunOut>& run_out) { quorum_.report(from, run_out); }
    // Drops what was reported or decided in another term.
    void clear() { quorum_.clear(); }
    void forget(SessionId session);

    // The sessions to expire now, each once per renewal: those whose last renewal has elapsed at a
    // majority of the present voters, including this node's `own`, and from which no renewal is on
    // its way.
    using HasRenewal = std::function<bool(SessionId)>;
    [[nodiscard]] std::vector<Expire> decide(const Configuration& configuration, NodeId self,
                                             const std::set<RunOut>& own,
                                             const SessionTable& sessions,
                                             const HasRenewal& has_renewal);

    // The number of reports that are kept for later decisions.
    [[nodiscard]] std::size_t pending() const { return quorum_.pending(); }

private:
    RunOutQuorum<RunOut> quorum_;
};

}  // namespace mortise::core
