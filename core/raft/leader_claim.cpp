#include "core/raft/leader_claim.hpp"

#include <algorithm>
#include <utility>

#include "core/raft/quorum.hpp"

namespace mortise::core {

namespace {

constexpr int pauses_max = 8;  // the longest time between two questions, in election timeouts

// A voter that has lost its directory since then has forgotten its vote.
bool was_voter(NodeId id, const Configuration& at_that_time, const Configuration& present) {
    const auto* then = at_that_time.find(id);
    const auto* now = present.find(id);
    return then != nullptr && now != nullptr && then->incarnation == now->incarnation;
}

}  // namespace

void LeaderClaim::heard(Term of, const Facts& facts) {
    const bool is_first = !std::exchange(is_heard_, true);
    const bool proven = is_proven_of(of);
    if (is_first || proven) since_ = facts.now;
    // Meanwhile there may have been another leader.
    if (facts.now > heard_at_ + facts.election_timeout) alone_since_ = facts.now;
    heard_at_ = facts.now;
}

// If those who deny it do not elect another leader, although they were asked twice, one of them may
// have voted for it and lie. This node takes a later term then, and refuses that of the leader,
// which has to ask for votes anew. It gets that of this node, or proves that it cannot be elected.
bool LeaderClaim::is_to_be_refused(const Facts& facts) {
    if (!is_false_) return false;
    if (facts.is_led) alone_since_ = facts.now;
    if (facts.now < alone_since_ + facts.election_timeout * 3 / 2) return false;
    alone_since_ = facts.now;
    return true;
}

// Those who know may be down for long, and then it is asked less and less often.
bool LeaderClaim::is_question_due(Term of, const Facts& facts) const {
    const bool is_due = is_false_ || facts.now >= since_ + facts.election_timeout / 2;
    return is_due && !is_proven_of(of) && (round_ == 0 || facts.now >= ask_at_);
}

// What they denied they have to deny each time: they may have been replaced by members that cannot
// know.
void LeaderClaim::ask(Term of, std::uint64_t round, const Facts& facts) {
    const auto* electing = facts.configurations.electing(asked_of_, facts.log);
    is_false_ = is_false_ && electing != nullptr && is_denied(*electing, facts);
    const auto longer =
        std::clamp(pause_ * 2, facts.heartbeat, facts.election_timeout * pauses_max);
    pause_ = is_false_ ? facts.election_timeout : longer;
    ask_at_ = facts.now + pause_;
    asked_of_ = of;
    in_favour_.clear();
    against_.clear();
    round_ = round;
}

// A voter that knows of later members may be one of those that did not elect this leader. If there
// are such members, a majority knows of them. Where it is unknown who elected it, because the log
// begins later, a majority of the oldest members that are known can show the votes, and nobody can
// deny them.
bool LeaderClaim::weigh(NodeId claimant, NodeId voter, const PreVoteReply& reply,
                        const Facts& facts) {
    const auto* known = facts.configurations.electing(asked_of_, facts.log);
    const auto& electing = known != nullptr ? *known : facts.configurations.oldest();
    const auto& present = facts.configurations.newest().configuration;
    if (!was_voter(voter, electing.configuration, present)) return false;
    if (reply.term == asked_of_ && *reply.voted_for == claimant) {
        in_favour_.insert(voter);
    } else if (reply.term <= asked_of_ && reply.configuration <= electing.index) {
        against_.insert(voter);
    }
    const auto elects = [&](NodeId id) { return id == claimant || in_favour_.contains(id); };
    if (has_quorum(electing.configuration, elects)) {
        proven_of_ = asked_of_;
        is_false_ = false;
        return false;
    }
    if (known == nullptr || !is_denied(electing, facts)) return false;
    if (std::exchange(is_false_, true)) return false;
    alone_since_ = facts.now;
    return true;
}

// A majority that did not vote for it, and knows of no later members, has one in common with every
// majority that can have elected it, also if the members have changed once since then. This node
// is one of them if it was there.
bool LeaderClaim::is_denied(const Electing& electing, const Facts& facts) const {
    const auto& present = facts.configurations.newest().configuration;
    const bool would_know =
        facts.knows_its_vote && was_voter(facts.self, electing.configuration, present);
    const auto denies = [&](NodeId id) {
        return id == facts.self ? would_know : against_.contains(id);
    };
    return has_quorum(electing.configuration, denies);
}

}  // namespace mortise::core
