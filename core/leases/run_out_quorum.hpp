// Decides when a time has elapsed for the cluster: when it has elapsed at a majority of the voters.
// No clock decides alone, and a report counts for ever, because an elapsed time stays elapsed.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "core/base/ids.hpp"
#include "core/raft/configuration.hpp"
#include "core/raft/quorum.hpp"

namespace mortise::core {

// Kept by a leader for one term. ExpiryQuorum uses it for sessions, ClosureQuorum for quorum
// timers. `What` identifies a time, and is ordered.
template <typename What>
class RunOutQuorum {
public:
    using Predicate = std::function<bool(const What&)>;

    // What a member reported in an append reply.
    void report(NodeId from, const std::vector<What>& run_out) {
        for (const auto& what : run_out)
            reported_[what].insert(from);
    }
    // Drops what was reported or decided in another term.
    void clear() {
        reported_.clear();
        decided_.clear();
    }
    void forget_if(const Predicate& is_it) {
        std::erase_if(reported_, [&](const auto& entry) { return is_it(entry.first); });
        std::erase_if(decided_, is_it);
    }

    struct Voting {
        const Configuration& configuration;  // its voters count now, whoever reported
        NodeId self;
    };
    // The times that have elapsed, each once, including this node's `own`. Reports about a time
    // that does not exist are dropped: they may be late, and if this node is behind, they come
    // again. Reports about a time that must not end yet are kept.
    [[nodiscard]] std::vector<What> decide(const Voting& voting, const std::set<What>& own,
                                           const Predicate& is_there, const Predicate& may_end) {
        for (const auto& what : own)
            reported_[what];
        std::erase_if(reported_, [&](const auto& entry) { return !is_there(entry.first); });
        std::vector<What> over;
        for (const auto& [what, members] : reported_) {
            const bool agreed = is_agreed(voting, own.contains(what), members);
            if (agreed && may_end(what) && decided_.insert(what).second) over.push_back(what);
        }
        return over;
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

    std::map<What, std::set<NodeId>> reported_;
    std::set<What> decided_;
};

}  // namespace mortise::core
