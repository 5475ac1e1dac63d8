// What follows from the claims of others to lead: see LeaderClaim.
#include <algorithm>
#include <variant>

#include "core/raft/bounds.hpp"
#include "core/raft/raft.hpp"

namespace mortise::core {

LeaderClaim::Facts Raft::facts_at(Instant now) const {
    const bool is_electing = role() == Role::candidate || is_giving_a_vote();
    return {.self = self(),
            .knows_its_vote = knows_its_vote(),
            .configurations = configurations_,
            .log = log_,
            .is_led = leader().has_value() || is_electing,
            .heartbeat = options_.heartbeat,
            .election_timeout = options_.election_timeout,
            .now = now};
}

bool Raft::is_proven(NodeId leader, Term of) const {
    const auto found = claims_.find(leader);
    return found != claims_.end() && found->second.is_proven_of(of);
}

// Returns whether that node leads in this term, as far as this node can know for certain.
bool Raft::is_elected(NodeId leader) const {
    return hard_state_ == HardState{term(), leader} || is_proven(leader, term());
}

// Returns whether a message that claims to lead is to be executed.
bool Raft::may_follow(NodeId from, Term of, Instant now) {
    if (of < term() || hard_state_ == HardState{of, from}) {
        if (of == term()) claims_.erase(from);
        return true;
    }
    // A node that is no member, as far as it knows, cannot ask the voters, so it believes every
    // claim. It may have refuted this one when it was a member.
    if (!is_member()) {
        claims_.erase(from);
        return true;
    }
    if (claims_.size() > members_max) claims_.clear();
    auto& claim = claims_[from];
    const auto facts = facts_at(now);
    claim.heard(of, facts);
    if (claim.is_to_be_refused(facts) && raise_term(from, of.next(), now)) return true;
    const bool is_far = of.raw() - term().raw() > term_step_max;
    if (claim.is_false() && !facts.is_led && is_far) raise_term(from, of, now);
    if (claim.is_question_due(of, facts)) ask_who_voted(claim, of, facts);
    return !claim.is_false();
}

void Raft::ask_who_voted(LeaderClaim& claim, Term of, const LeaderClaim::Facts& facts) {
    claim.ask(of, ++round_, facts);
    // A voter says of which members before that term it knows.
    const PreVoteRequest question{std::max(of, term()), round_, log_.last()};
    for (const auto peer : configuration().all()) {
        if (peer != self() && configuration().is_voter(peer)) send(peer, question);
    }
}

void Raft::weigh_claim(NodeId from, const PreVoteReply& reply, Instant now) {
    if (!reply.voted_for || reply.round == 0) return;
    const auto asked = [&](const auto& one) { return one.second.is_asked_in(reply.round); };
    const auto found = std::ranges::find_if(claims_, asked);
    if (found == claims_.end()) return;
    auto& [by, claim] = *found;
    if (!claim.weigh(by, from, reply, facts_at(now))) return;
    note(Note::Kind::false_leader, by);
    auto* follower = std::get_if<Follower>(&role_);
    if (follower != nullptr && follower->leader == by) lose_leader(*follower, now);
}

}  // namespace mortise::core
