// Whether a node that claims to lead was elected. A follower that did not vote for it cannot know
// that. It follows at once, since a new leader must not wait, and asks the voters a little later:
// each of them knows for whom it voted (docs/decisions/0064).
#include <algorithm>
#include <utility>
#include <variant>

#include "core/raft/quorum.hpp"
#include "core/raft/raft.hpp"

namespace mortise::core {

namespace {

constexpr int pauses_max = 8;  // the longest time between two questions, in election timeouts

}  // namespace

// Returns the configuration in which the leader of that term was elected: what it changed since has
// its term. Null if it is not kept. An entry that the log does not have any more has at most the
// term of the base.
const Raft::ConfigurationAt* Raft::electing_configuration(Term of) const {
    const auto is_earlier = [&](const ConfigurationAt& one) {
        return log_.term_at(one.index).value_or(log_.base().term) < of;
    };
    return configurations_.newest_where(is_earlier);
}

// A voter that has lost its directory since then has forgotten its vote.
bool Raft::was_voter(NodeId id, const Configuration& at_that_time) const {
    const auto* then = at_that_time.find(id);
    const auto* now = configuration().find(id);
    return then != nullptr && now != nullptr && then->incarnation == now->incarnation;
}

bool Raft::is_proven(NodeId leader, Term of) const {
    const auto found = claims_.find(leader);
    return found != claims_.end() && found->second.proven_of == of;
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
    if (claims_.size() > members_max) claims_.clear();
    const auto [place, is_first] = claims_.try_emplace(from);
    auto& claim = place->second;
    const bool proven = claim.proven_of == of;
    if (is_first || proven) claim.since = now;
    if (claim.is_false && has_no_other_leader(claim, now)) {
        claim.alone_since = now;
        if (raise_term(from, of.next(), now)) return true;
    }
    const bool is_due = claim.is_false || now >= claim.since + options_.election_timeout / 2;
    if (is_due && !proven) ask_who_voted(claim, of, now);
    return !claim.is_false;
}

// If those who deny it do not elect another leader, although they were asked twice, one of them may
// have voted for it and lie. This node takes a later term then, and refuses that of the leader,
// which has to ask for votes anew. It gets that of this node, or proves that it cannot be elected.
bool Raft::has_no_other_leader(Claim& claim, Instant now) {
    if (leader()) claim.alone_since = now;
    return now >= claim.alone_since + options_.election_timeout * 3 / 2;
}

// Those who know may be down for long, and then it is asked less and less often. What they denied
// they have to deny each time: they may have been replaced by members that cannot know.
void Raft::ask_who_voted(Claim& claim, Term of, Instant now) {
    if (!is_member() || (claim.round != 0 && now < claim.ask_at)) return;
    const auto* electing = electing_configuration(claim.asked_of);
    claim.is_false = claim.is_false && electing != nullptr && is_denied(claim, *electing);
    const auto longer =
        std::clamp(claim.pause * 2, options_.heartbeat, options_.election_timeout * pauses_max);
    claim.pause = claim.is_false ? options_.election_timeout : longer;
    claim.ask_at = now + claim.pause;
    claim.asked_of = of;
    claim.in_favour.clear();
    claim.against.clear();
    claim.round = ++round_;
    const PreVoteRequest question{term(), claim.round, log_.last()};
    for (const auto peer : configuration().all()) {
        if (peer != self() && configuration().is_voter(peer)) send(peer, question);
    }
}

// A voter that knows of later members may be one of those that did not elect this leader. If there
// are such members, a majority knows of them.
void Raft::weigh_claim(NodeId from, const PreVoteReply& reply, Instant now) {
    if (!reply.voted_for || reply.round == 0) return;
    const auto asked = [&](const auto& one) { return one.second.round == reply.round; };
    const auto found = std::ranges::find_if(claims_, asked);
    if (found == claims_.end()) return;
    auto& [by, claim] = *found;
    const auto* electing = electing_configuration(claim.asked_of);
    if (electing == nullptr || !was_voter(from, electing->configuration)) return;
    if (reply.term == claim.asked_of && *reply.voted_for == by) {
        claim.in_favour.insert(from);
    } else if (reply.term <= claim.asked_of && reply.configuration <= electing->index) {
        claim.against.insert(from);
    }
    judge_claim(by, claim, *electing, now);
}

void Raft::judge_claim(NodeId by, Claim& claim, const ConfigurationAt& electing, Instant now) {
    const auto elects = [&](NodeId id) { return id == by || claim.in_favour.contains(id); };
    if (has_quorum(electing.configuration, elects)) {
        claim.proven_of = claim.asked_of;
        claim.is_false = false;
    } else if (is_denied(claim, electing) && !std::exchange(claim.is_false, true)) {
        note(Note::Kind::false_leader, by);
        claim.alone_since = now;
        auto* follower = std::get_if<Follower>(&role_);
        if (follower != nullptr && follower->leader == by) lose_leader(*follower, now);
    }
}

// A majority that did not vote for it, and knows of no later members, has one in common with every
// majority that can have elected it, also if the members have changed once since then. This node
// is one of them if it was there.
bool Raft::is_denied(const Claim& claim, const ConfigurationAt& electing) const {
    const bool was_there = was_voter(self(), electing.configuration);
    const auto denies = [&](NodeId id) {
        return id == self() ? was_there : claim.against.contains(id);
    };
    return has_quorum(electing.configuration, denies);
}

}  // namespace mortise::core
