// What a higher term in a message does. A term is only a number in a message, and a member with an
// error may send any. So a single member can neither end the terms nor, by that alone, the
// leadership of another one (docs/decisions/0064).
#include <algorithm>
#include <variant>

#include "core/base/check.hpp"
#include "core/raft/bounds.hpp"
#include "core/raft/raft.hpp"

namespace mortise::core {

namespace {

// A node that is told of higher terms while it asks for votes asks again after a few heartbeats at
// most. So it asks more often than one peer may raise its term.
constexpr int doublings_by_words = 3;

// It shows a node that asked for something why it did not get it.
bool is_answer(const RaftMessage& message) {
    return std::holds_alternative<PreVoteReply>(message) ||
           std::holds_alternative<VoteReply>(message) ||
           std::holds_alternative<AppendReply>(message) ||
           std::holds_alternative<SnapshotReply>(message);
}

// Its term is examined together with what it asks for or says.
bool is_judged_with_its_term(const RaftMessage& message) {
    return std::holds_alternative<PreVoteRequest>(message) ||
           std::holds_alternative<VoteRequest>(message) ||
           std::holds_alternative<NotAMember>(message);
}

}  // namespace

// Returns whether the message is to be executed.
bool Raft::takes_term_of(NodeId from, const RaftMessage& message, Instant now) {
    const auto said = term_of(message);
    if (said <= term() || is_judged_with_its_term(message)) return true;
    if (claims_to_lead(message)) {
        if (!is_proven(from, said)) return raise_term(from, said, now);
        adopt_term(said, now);
        return true;
    }
    // A node that hears its leader leaves it to the leader to react.
    if (!is_answer(message) || (!is_leader() && stands_by_leader(now))) return false;
    const auto was = is_transferring() ? Role::follower : role();
    const bool is_reached = raise_term(from, said, now);
    ask_anew(was, now);
    return is_reached;
}

// Nobody leads in the new term as far as this node knows. If it has led, its followers still hear
// it. If it was a candidate, there is as much reason to be one as before, but perhaps it is one of
// two that depose each other.
void Raft::ask_anew(Role was, Instant now) {
    auto* follower = std::get_if<Follower>(&role_);
    if (follower == nullptr || was == Role::follower || !can_campaign()) return;
    if (was == Role::leader) return become_pre_candidate(now);
    const auto soon = succession_.after_refusal(configuration(), now, doublings_by_words);
    follower->election_at = std::min(follower->election_at, soon);
}

// Raises the own term because one peer says so. Returns whether that term is reached. If not, the
// peer repeats itself: a term that is far away is approached in steps, so that members whose terms
// differ by any number meet again, and nobody reaches the end of the terms in its lifetime.
bool Raft::raise_term(NodeId by, Term said, Instant now) {
    if (!raises_.allows(by, now)) return false;
    const bool is_far = said.raw() - term().raw() > term_step_max;
    if (is_far) note(Note::Kind::distant_term, by);
    adopt_term(is_far ? Term{term().raw() + term_step_max} : said, now);
    return !is_far;
}

// The own deadline stays: who hears of new terms again and again must not wait for ever.
void Raft::adopt_term(Term term, Instant now) {
    MORTISE_CHECK(term > hard_state_.term);
    const auto* waiting = std::get_if<Follower>(&role_);
    const auto asks_at = waiting != nullptr ? waiting->election_at : Instant::never();
    hard_state_ = {term, NodeId{}};
    pending_.hard_state = hard_state_;
    owed_votes_.clear();
    if (!is_in_bounds(term.next())) note(Note::Kind::terms_used_up);
    become_follower(std::nullopt, now);
    auto& follower = std::get<Follower>(role_);
    follower.election_at = std::min(follower.election_at, asks_at);
}

}  // namespace mortise::core
