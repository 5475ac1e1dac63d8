// When a time is over for the cluster: once it has run out at a majority of the voters. No clock
// decides alone, and nobody's report is asked for twice: a time that ran out stays so.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "core/base/ids.hpp"
#include "core/raft/configuration.hpp"
#include "core/raft/quorum.hpp"

namespace mortise::core {

// Kept by a leader, for one term: ExpiryQuorum says what is counted of sessions, ClosureQuorum what
// of closures. What are the names of the times, ordered.
template <typename What>
class RunOutQuorum {
public:
    using Predicate = std::function<bool(const What&)>;

    // What a member reported in an append reply.
    void report(NodeId from, const std::vector<What>& run_out) {
        for (const auto& what : run_out)
            reported_[what].insert(from);
    }
    // Nothing that was heard or decided in another term counts.
    void clear() {
        reported_.clear();
        decided_.clear();
    }
    void forget_if(const Predicate& is_it) {
        std::erase_if(reported_, [&](const auto& entry) { return is_it(entry.first); });
        std::erase_if(decided_, is_it);
    }

    struct Voting {
        const Configuration& configuration;  // whose voters count now, whoever reported
        NodeId self;
    };
    // What is over now, each once, this node's `own` included. Reports of what is not there are
    // dropped: answers may be older than the end of what they name, and if it is this node that is
    // behind, it is told again. What may not end yet stays.
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

    // What is kept for a decision still to come.
    [[nodiscard]] std::size_t pending() const { return reported_.size(); }

private:
    // Under this node's name nobody reports but itself.
    static bool is_agreed(const Voting& voting, bool is_own, const std::set<NodeId>& members) {
        return has_quorum(voting.configuration, [&](NodeId id) {
            return id == voting.self ? is_own : members.contains(id);
        });
    }

    std::map<What, std::set<NodeId>> reported_;
    std::set<What> decided_;
};

}  // namespace mortise::core
