// The leader's part of the quorum timers (S4, S24): a timer ends when it has elapsed at a majority
// of the voters. No clock decides alone, and a report counts for ever, because an elapsed time
// stays elapsed: reports may arrive late and out of order.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/base/ids.hpp"
#include "core/leases/renewed_lease.hpp"
#include "core/raft/configuration.hpp"
#include "core/raft/quorum.hpp"

namespace mortise::core {

// Kept for one term. `Timer` is what Countdowns counts: RenewedLease or ClosureId.
template <typename Timer>
class TimerVotes {
public:
    using Id = decltype(id_of(std::declval<Timer>()));

    // What a member reported in an append reply.
    void report(NodeId from, const std::vector<Timer>& run_out) {
        for (const auto& timer : run_out)
            reported_[timer].insert(from);
    }
    // Drops what was reported or decided in another term.
    void clear() {
        reported_.clear();
        decided_.clear();
    }
    void forget(Id id) {
        std::erase_if(reported_, [&](const auto& entry) { return id_of(entry.first) == id; });
        std::erase_if(decided_, [&](const Timer& timer) { return id_of(timer) == id; });
    }

    struct Voting {
        const Configuration& configuration;  // the present one: only its voters count
        NodeId self;
        const std::set<Timer>& own;  // what has elapsed at this node
    };
    // The timers to end now, each once. Reports about a timer that does not exist are dropped: they
    // may be late, and if this node is behind, they come again. Reports about a timer that must not
    // end yet are kept.
    template <class IsThere, class MayEnd>
    [[nodiscard]] std::vector<Timer> decide(const Voting& voting, const IsThere& is_there,
                                            const MayEnd& may_end) {
        for (const auto& timer : voting.own)
            reported_[timer];
        std::erase_if(reported_, [&](const auto& entry) { return !is_there(entry.first); });
        std::vector<Timer> over;
        for (const auto& [timer, members] : reported_) {
            const bool agreed = is_agreed(voting, voting.own.contains(timer), members);
            if (agreed && may_end(timer) && decided_.insert(timer).second) over.push_back(timer);
        }
        return over;
    }

    template <class IsThere>
    [[nodiscard]] std::vector<Timer> decide(const Voting& voting, const IsThere& is_there) {
        return decide(voting, is_there, [](const Timer&) { return true; });
    }

    // The number of reports that are kept for later decisions.
    [[nodiscard]] std::size_t pending() const { return reported_.size(); }

private:
    // The reports under this node's id are its own.
    static bool is_agreed(const Voting& voting, bool is_own, const std::set<NodeId>& members) {
        return has_quorum(voting.configuration, [&](NodeId id) {
            return id == voting.self ? is_own : members.contains(id);
        });
    }

    std::map<Timer, std::set<NodeId>> reported_;
    std::set<Timer> decided_;
};

}  // namespace mortise::core
