// Pre-vote, vote and victory (thesis 3.4, 9.6), and the stickiness of a leader (thesis 4.2.3).
#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/check.hpp"
#include "core/raft/quorum.hpp"
#include "core/raft/raft.hpp"

namespace mortise::core {

void Raft::become_pre_candidate(Instant now) {
    if (!can_campaign()) {
        become_follower(std::nullopt, now);
        return;
    }
    succession_.began_attempt();
    PreCandidate asking;
    asking.round = ++round_;
    add_own_vote(asking.votes);
    asking.election_at = succession_.without_leader(now);
    const PreVoteRequest request{term(), asking.round, log_.last()};
    role_ = std::move(asking);
    note(Note::Kind::became_pre_candidate);
    for (const auto peer : configuration().all()) {
        if (peer != self() && configuration().is_voter(peer)) send(peer, request);
    }
    count_votes(now);
}

void Raft::ask_to_be_judged() {
    const PreVoteRequest request{term(), ++round_, log_.last()};
    for (const auto peer : configuration().all()) {
        if (peer != self()) send(peer, request);
    }
}

void Raft::set_doubted(bool is_doubted, Instant now) {
    if (std::exchange(is_doubted_, is_doubted) == is_doubted) return;
    doubted_in_ = term();
    auto* follower = std::get_if<Follower>(&role_);
    if (follower == nullptr) {
        become_follower(std::nullopt, now);
    } else {
        follower->election_at = can_campaign() ? succession_.without_leader(now) : Instant::never();
    }
}

void Raft::become_candidate(bool transfer, Instant now) {
    MORTISE_CHECK(can_campaign());
    succession_.began_attempt();
    hard_state_ = {term().next(), NodeId{}};
    owed_votes_.clear();
    vote_for(self());
    Candidate candidate;
    candidate.round = ++round_;
    candidate.election_at = succession_.without_leader(now);
    candidate.transfer = transfer;
    role_ = std::move(candidate);
    note(Note::Kind::became_candidate);
    campaign_if_durable(now);
}

// Its own vote, and the log that it claims, count once they are on disk (B-D1, B-D18). Writes
// complete in order, so the completion of the vote covers every entry before it.
void Raft::campaign_if_durable(Instant now) {
    auto* candidate = std::get_if<Candidate>(&role_);
    if (candidate == nullptr || candidate->requests_sent) return;
    if (writes_.hard_state() != hard_state_) return;
    MORTISE_CHECK(writes_.durable() == log_.last().index);
    candidate->requests_sent = true;
    add_own_vote(candidate->votes);
    const VoteRequest request{term(), candidate->round, log_.last(), candidate->transfer};
    for (const auto peer : configuration().all()) {
        if (peer != self() && configuration().is_voter(peer)) send(peer, request);
    }
    count_votes(now);
}

void Raft::count_votes(Instant now) {
    if (const auto* asking = std::get_if<PreCandidate>(&role_)) {
        if (elected_by(asking->votes)) become_candidate(false, now);
    } else if (const auto* candidate = std::get_if<Candidate>(&role_)) {
        if (const auto first = elected_by(candidate->votes)) become_leader(*first, now);
    }
}

// A node that may have forgotten entries may lack committed ones, as may those for which it votes.
Raft::Consent Raft::consent() const {
    return is_forgetful() ? Consent::if_all : Consent::granted;
}

void Raft::add_own_vote(Votes& votes) const {
    (is_forgetful() ? votes.if_all : votes.granted).insert(self());
}

// Returns the kind of its first entry; empty if it is not elected. Each majority of voters that
// have forgotten nothing has one that knows what is committed. If there is none, but all voters
// agree, then what none of them has is lost, and no other node leads (docs/decisions/0095).
std::optional<EntryKind> Raft::elected_by(const Votes& votes) const {
    const auto agrees = [&](NodeId id) { return votes.granted.contains(id); };
    if (has_quorum(configuration(), agrees)) return EntryKind::noop;
    const auto objects = [&](const Member& voter) {
        const bool agrees_if_all = agrees(voter.id) || votes.if_all.contains(voter.id);
        return !agrees_if_all || !configuration().is_current(voter);
    };
    const auto& [voters, outgoing] = std::tie(configuration().voters, configuration().outgoing);
    if (std::ranges::any_of(voters, objects) || std::ranges::any_of(outgoing, objects))
        return std::nullopt;
    return EntryKind::era;
}

void Raft::become_leader(EntryKind first, Instant now) {
    MORTISE_CHECK(hard_state_.voted_for == self());
    Leader leader;
    leader.since = now;
    leader.contact_since = now;
    leader.heartbeat_at = now + pace();
    leader.first_own = log_.last().index.next();
    sync_progress_with_configuration(leader);
    role_ = std::move(leader);
    note(Note::Kind::became_leader);
    if (first == EntryKind::era) note(Note::Kind::era_begun);
    succession_.led();
    // Until an entry of this term commits, no older entry can be counted (thesis 3.6.2).
    append_to_log(make_entry({term(), log_.last().index.next()}, first, {}));
}

bool Raft::stands_by_leader(Instant now) const {
    // A leader that lost its majority has stepped down by itself (check_leadership).
    if (is_leader()) return true;
    const auto* follower = std::get_if<Follower>(&role_);
    return follower != nullptr && follower->leader &&
           now < follower->leader_heard + succession_.patience();
}

// The leader itself may ask. It was told of a higher term in which nobody leads.
bool Raft::is_kept_from(NodeId asker, Instant now) const {
    return stands_by_leader(now) && leader() != asker;
}

// Whether the leader has asked that voter to campaign. The leader of an older version does not tell
// its followers, which then believe the candidate.
bool Raft::is_to_take_over(NodeId candidate) const {
    if (const auto* leading = std::get_if<Leader>(&role_))
        return leading->transfer && leading->transfer->target == candidate;
    const auto* follower = std::get_if<Follower>(&role_);
    return follower != nullptr && follower->transfer_target.value_or(candidate) == candidate;
}

bool Raft::is_at_least_ours(LogId last) const {
    return last >= log_.last();
}

// Only a voter may be voted for, or a node whose log is ahead of ours: it may have become a voter
// in entries that we do not have (B-M10). The candidate counts the quorum with its own
// configuration in any case.
bool Raft::may_be_voted_for(NodeId candidate, LogId last) const {
    return configuration().is_voter(candidate) || last > log_.last();
}

bool Raft::grants(NodeId to, const PreVoteRequest& request, Instant now) const {
    const bool newer = request.term.next() > term() && request.last >= log_.last();
    return newer && !is_doubted_ && !is_kept_from(to, now) && may_be_voted_for(to, request.last);
}

// Neither a term nor a timer changes: a node that hears no leader may ask again and again (B-V6).
void Raft::on(NodeId from, const PreVoteRequest& request, Instant now) {
    const bool granted = grants(from, request, now);
    // A term shown to others must survive a restart.
    if (is_term_durable()) answer(from, request, granted ? consent() : Consent::none);
    auto* follower = std::get_if<Follower>(&role_);
    if (!granted && follower != nullptr && follower->leader)
        follower->asked = AskedPreVote{from, request};
}

// The other one noticed earlier that the connection to the leader was broken. If it has asked again
// since, or does not ask any more, it ignores the answer.
bool Raft::answer_late(const Follower& follower, Instant now) {
    const auto& asked = follower.asked;
    if (!asked || !is_term_durable() || !grants(asked->by, asked->request, now)) return false;
    answer(asked->by, asked->request, consent());
    return true;
}

void Raft::answer(NodeId to, const PreVoteRequest& request, Consent consent) {
    const auto* electing = configurations_.electing(request.term, log_);
    const auto newest = electing != nullptr ? electing->index : configurations_.newest().index;
    PreVoteReply reply{term(), request.round, consent == Consent::granted, {}, newest};
    reply.if_all = consent == Consent::if_all;
    if (knows_its_vote()) reply.voted_for = hard_state_.voted_for;
    send(to, reply);
}

void Raft::on(NodeId from, const PreVoteReply& reply, Instant now) {
    auto* asking = std::get_if<PreCandidate>(&role_);
    // Only a reply to this question counts, not one to an earlier question or another kind (B-V3).
    const bool of_this_round = asking != nullptr && asking->round == reply.round;
    if (!of_this_round) return;
    if (!reply.granted && !reply.if_all) {
        const auto soon = succession_.after_refusal(configuration(), now);
        asking->election_at = std::min(asking->election_at, soon);
        return;
    }
    (reply.granted ? asking->votes.granted : asking->votes.if_all).insert(from);
    count_votes(now);
}

void Raft::on(NodeId from, const VoteRequest& request, Instant now) {
    const bool is_news = request.term > term();
    const auto was = role();
    if (is_news) {
        // A node that hears its leader does not help to depose that leader, and does not even adopt
        // the term.
        const bool takes_over = request.transfer && is_to_take_over(from);
        if (!takes_over && is_kept_from(from, now)) return;
        if (!may_be_voted_for(from, request.last)) return;
        // Its terms rise as often as somebody tells it of a higher one.
        if (leader() == from) raises_.forget(from);
        raise_term(from, request.term, now);
    }
    auto* follower = std::get_if<Follower>(&role_);
    const bool free = !hard_state_.voted_for.is_set() || hard_state_.voted_for == from;
    const bool granted = request.term == term() && follower != nullptr && free &&
                         !follower->leader && !is_doubted_ && is_at_least_ours(request.last) &&
                         may_be_voted_for(from, request.last);
    // It counts the answer to its newest request alone.
    std::erase_if(owed_votes_, [&](const OwedVote& owed) { return owed.candidate == from; });
    owed_votes_.push_back({from, request.round, granted ? consent() : Consent::none});
    if (granted) vote_for(from);
    // It has time to win (B-V5). If it asks again and again without ever leading, the others do not
    // wait for it any more.
    if (granted && succession_.gives_time(from)) {
        follower->election_at = succession_.without_leader(now);
    } else if (is_news) {
        ask_anew(was, now);
    }
}

void Raft::on(NodeId from, const VoteReply& reply, Instant now) {
    auto* candidate = std::get_if<Candidate>(&role_);
    if (candidate == nullptr || reply.term != term() || reply.round != candidate->round) return;
    if (!reply.granted && !reply.if_all) {
        const auto soon = succession_.after_refusal(configuration(), now);
        candidate->election_at = std::min(candidate->election_at, soon);
        return;
    }
    if (!candidate->requests_sent) return;
    (reply.granted ? candidate->votes.granted : candidate->votes.if_all).insert(from);
    count_votes(now);
}

void Raft::on(NodeId from, const TimeoutNow& request, Instant now) {
    const auto* follower = std::get_if<Follower>(&role_);
    if (request.term != term() || follower == nullptr || follower->leader != from) return;
    // The leader believed that our log ends with that entry, durably. If it does not, because the
    // message is old, this node must not claim it (B-V13).
    if (log_.last() != request.last || writes_.durable() != request.last.index) return;
    if (can_campaign()) become_candidate(true, now);
}

// An answer, also a refusal, shows our term, and a vote must not be forgotten. So it waits until
// both are durable.
void Raft::send_owed_votes() {
    if (owed_votes_.empty() || writes_.hard_state() != hard_state_) return;
    // Its own question waited for that write, which is no delay of a leader.
    auto* follower = std::get_if<Follower>(&role_);
    if (follower != nullptr && is_giving_a_vote())
        follower->election_at = std::max(follower->election_at, last_event_);
    for (const auto& owed : owed_votes_) {
        send(owed.candidate, VoteReply{term(), owed.round, owed.consent == Consent::granted,
                                       owed.consent == Consent::if_all});
    }
    owed_votes_.clear();
}

// While its vote for another one is being written, a voter does not ask for votes itself. It would
// gain nothing, because its own vote is written after that one. But it would take the vote back,
// and two voters with slow disks would do that to each other for ever.
bool Raft::is_giving_a_vote() const {
    return std::ranges::any_of(owed_votes_,
                               [](const OwedVote& owed) { return owed.consent != Consent::none; });
}

}  // namespace mortise::core
