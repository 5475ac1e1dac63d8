// A node claims to lead in a term in which this node did not vote for it. So this node cannot know
// whether it was elected. It follows at once, since a new leader must not wait, and asks the voters
// a little later: each of them knows for whom it voted (docs/decisions/0064).
#pragma once

#include <cstdint>
#include <set>

#include "core/base/instant.hpp"
#include "core/raft/configuration_history.hpp"
#include "core/raft/log.hpp"
#include "core/raft/message.hpp"

namespace mortise::core {

class LeaderClaim {
public:
    // What the node knows when it hears something.
    struct Facts {
        NodeId self;
        bool knows_its_vote;  // in its present term
        const ConfigurationHistory& configurations;
        const Log& log;
        bool is_led;  // it has a leader, this one or another one, or an election is under way
        Nanoseconds heartbeat;
        Nanoseconds election_timeout;
        Instant now;
    };

    // The claim was made, in that term.
    void heard(Term of, const Facts& facts);
    // True once in a while if this claim is false and there is no other leader.
    [[nodiscard]] bool is_to_be_refused(const Facts& facts);
    [[nodiscard]] bool is_question_due(Term of, const Facts& facts) const;
    // The voters are asked in that round whether they elected it in term `of`.
    void ask(Term of, std::uint64_t round, const Facts& facts);
    // True if the answer shows for the first time that `claimant` was not elected.
    bool weigh(NodeId claimant, NodeId voter, const PreVoteReply& reply, const Facts& facts);

    [[nodiscard]] bool is_asked_in(std::uint64_t round) const { return round_ == round; }
    [[nodiscard]] bool is_proven_of(Term term) const { return proven_of_ == term; }
    [[nodiscard]] bool is_false() const { return is_false_; }

private:
    using Electing = ConfigurationHistory::At;

    [[nodiscard]] bool is_denied(const Electing& electing, const Facts& facts) const;

    bool is_heard_ = false;
    Instant since_{};        // unproven; it may have claimed other terms meanwhile
    Term proven_of_{};       // the newest term for which the votes of a majority were shown
    bool is_false_ = false;  // it was not elected, in some term
    Instant heard_at_{};     // when it was made last
    Instant alone_since_{};  // as long as it is false: without another leader
    // The newest question.
    Term asked_of_{};
    std::uint64_t round_ = 0;  // zero: not asked yet
    std::set<NodeId> in_favour_{};
    std::set<NodeId> against_{};
    Instant ask_at_{};     // again
    Nanoseconds pause_{};  // from that question to the next one
};

}  // namespace mortise::core
