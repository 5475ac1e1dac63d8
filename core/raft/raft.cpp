// Construction, the beginning of every event, and the only functions that change term, vote, log
// and commit index.
#include "core/raft/raft.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/check.hpp"
#include "core/codec/configuration_codec.hpp"
#include "core/raft/bounds.hpp"
#include "core/raft/quorum.hpp"

namespace mortise::core {

namespace {

LogIndex last_index_of(const RaftState& state) {
    return state.entries.empty() ? state.base.index : state.entries.back().id.index;
}

}  // namespace

// If it was a member in an earlier run, the entry that removed it may be the newest in its log, and
// note_membership() must see the removal.
Raft::Raft(const RaftOptions& options, RaftState state, Prng prng, Instant now)
    : options_{options},
      hard_state_{state.hard_state},
      unsynced_{state.unsynced},
      log_{state.base, {}},
      configurations_{state.base.index, std::move(state.configuration)},
      writes_{state.hard_state, last_index_of(state), state.unsynced},
      commit_{std::max(state.applied, state.base.index)},
      handed_out_{commit_},
      succession_{{options.self, options.election_timeout, options.heartbeat}, prng},
      raises_{options.election_timeout},
      last_event_{now},
      membership_{false, {}} {
    for (auto& entry : state.entries)
        append_to_log(std::move(entry));
    MORTISE_CHECK(commit_ <= log_.last().index);
    membership_ = OwnMembership{configurations_.has_ever(options_.self, options_.incarnation),
                                configurations_.newest().index};
    note_membership();
    if (is_forgetful()) note(Note::Kind::may_have_forgotten);
    pending_ = {};  // what was read from disk need not be written again
    become_follower(std::nullopt, now);
    const bool alone = can_campaign() && configuration().voters.size() == 1;
    if (alone) std::get<Follower>(role_).election_at = now;
}

const Configuration& Raft::configuration_at(LogIndex index) const {
    MORTISE_CHECK(index >= log_.base().index && index <= log_.last().index);
    return configurations_.at(index);
}

LogId Raft::configuration_id() const {
    const auto index = configurations_.newest().index;
    return {log_.term_at(index).value_or(log_.base().term), index};
}

LogBase Raft::base() const {
    return {log_.base(), configurations_.oldest().configuration};
}

std::optional<NodeId> Raft::leader() const {
    if (is_leader()) return self();
    if (const auto* follower = std::get_if<Follower>(&role_)) return follower->leader;
    return std::nullopt;
}

bool Raft::can_campaign() const {
    const bool votes = configuration().is_voter(self());
    const bool may_vote =
        is_member() && votes && !membership_.is_dismissed() && !is_installing() && !is_doubted_;
    return configuration().is_formed() && may_vote && is_in_bounds(term().next());
}

void Raft::begin_event(Instant now) {
    // This comes before the event is examined: an answer that waited in a socket while this process
    // was paused is not a contact now (fault 6).
    if (is_leader()) check_leadership(now);
    last_event_ = now;
}

void Raft::on_timer(Instant now) {
    begin_event(now);
    if (auto* follower = std::get_if<Follower>(&role_)) {
        if (now >= deadline()) on_silence(*follower, now);
    } else if (auto* asking = std::get_if<PreCandidate>(&role_)) {
        if (now >= asking->election_at) become_pre_candidate(now);
    } else if (auto* candidate = std::get_if<Candidate>(&role_)) {
        if (now >= candidate->election_at) become_pre_candidate(now);
    } else if (auto* leader = std::get_if<Leader>(&role_)) {
        if (now >= leader->heartbeat_at) {
            leader->heartbeat_due = true;
            leader->heartbeat_at = now + pace();
        }
        progress_transfer(now);
    }
}

// A node whose timer fires late had no time itself: the messages of its leader may wait in its own
// sockets. That delay counts like one of the leader's.
void Raft::on_silence(Follower& follower, Instant now) {
    if (follower.leader) {
        if (succession_.was_late(now - follower.election_at, now))
            follower.election_at =
                succession_.after_silence(configuration(), *follower.leader, follower.leader_heard);
        if (now < follower.election_at) return;
    }
    become_pre_candidate(now);
}

void Raft::set_pace(Nanoseconds pace) {
    options_.pace = pace;
    if (auto* leader = std::get_if<Leader>(&role_))
        leader->heartbeat_at = std::min(leader->heartbeat_at, last_event_ + pace);
}

void Raft::take_message(NodeId from, RaftMessage message, Instant now) {
    if (claims_to_lead(message) && !may_follow(from, term_of(message), now)) return;
    // It says something about its sender's vote, whatever the term is.
    if (const auto* reply = std::get_if<PreVoteReply>(&message)) weigh_claim(from, *reply, now);
    if (!takes_term_of(from, message, now)) return;
    std::visit([&](auto& m) { on(from, m, now); }, message);
}

void Raft::on_write_done(WriteId id, Instant now) {
    begin_event(now);
    const auto before = writes_.durable();
    writes_.complete(id);
    // All voters agreed to the first entry, so it is committed once it is on one disk.
    if (commit_ == LogIndex{} && writes_.durable() >= LogIndex{1}) commit_to(LogIndex{1});
    if (auto* follower = std::get_if<Follower>(&role_)) {
        if (writes_.durable() > before && follower->leader) follower->reply_owed = true;
    }
    campaign_if_durable(now);
    if (auto* leader = std::get_if<Leader>(&role_)) advance_everything(*leader);
}

void Raft::on_peer_down(NodeId peer, Instant now) {
    begin_event(now);
    succession_.connection_lost(peer);
    auto* follower = std::get_if<Follower>(&role_);
    if (follower == nullptr) return;
    if (follower->asked && follower->asked->by == peer) follower->asked.reset();
    // A learner goes on: what it sends shows whether it missed its removal.
    if (follower->leader == peer && can_campaign()) lose_leader(*follower, now);
}

void Raft::lose_leader(Follower& follower, Instant now) {
    const auto lost = *std::exchange(follower.leader, std::nullopt);
    follower.leader_heard = Instant{std::numeric_limits<std::int64_t>::min()};
    if (!can_campaign()) return;
    const bool another_asks = answer_late(follower, now);
    const auto at = succession_.after_loss(configuration(), lost, another_asks, now);
    if (!at) return become_pre_candidate(now);
    follower.election_at = *at;
}

std::optional<LogIndex> Raft::propose(EntryKind kind, Bytes payload, Instant now) {
    begin_event(now);
    if (!is_leader() || is_transferring()) return std::nullopt;
    append_to_log(make_entry({term(), log_.last().index.next()}, kind, std::move(payload)));
    return log_.last().index;
}

void Raft::adopt_formation(const Entry& entry, Instant now) {
    begin_event(now);
    MORTISE_CHECK(log_.last() == LogId{} && !configuration().is_formed());
    MORTISE_CHECK(entry.id.index == LogIndex{1} && entry.kind == EntryKind::configuration);
    // A leader that this node could not follow yet may have used a higher term.
    hard_state_ = {std::max(entry.id.term, term()), NodeId{}};
    pending_.hard_state = hard_state_;
    append_to_log(entry);
    become_follower(std::nullopt, now);
    // The voter with the lowest id, which offered the first entry, asks first, when the others have
    // that entry; they would only interfere.
    const auto& voters = configuration().voters;
    if (voters.front().id == self()) {
        const auto others_take = voters.size() == 1 ? Nanoseconds{0} : options_.heartbeat;
        std::get<Follower>(role_).election_at = now + others_take;
    }
    note(Note::Kind::formed);
}

void Raft::purge_to(LogIndex index) {
    MORTISE_CHECK(index <= handed_out_);
    if (index <= log_.base().index) return;
    log_.purge_to(index);
    if (auto* leader = std::get_if<Leader>(&role_)) {
        for (auto& [peer, progress] : leader->peers)
            cut_off_if_purged(peer, progress);
    }
    configurations_.purge_to(index);
}

void Raft::become_follower(std::optional<NodeId> leader, Instant now) {
    Follower follower;
    follower.leader = leader;
    follower.leader_heard = leader ? now : Instant{std::numeric_limits<std::int64_t>::min()};
    follower.verified = commit_;
    follower.election_at = Instant::never();
    if (can_campaign())
        follower.election_at = leader ? succession_.after_silence(configuration(), *leader, now)
                                      : succession_.without_leader(now);
    role_ = follower;
    note(Note::Kind::became_follower, leader.value_or(NodeId{}));
}

void Raft::vote_for(NodeId candidate) {
    MORTISE_CHECK(!hard_state_.voted_for.is_set() || hard_state_.voted_for == candidate);
    if (hard_state_.voted_for == candidate) return;
    hard_state_.voted_for = candidate;
    pending_.hard_state = hard_state_;
}

void Raft::append_to_log(Entry entry) {
    if (entry.kind == EntryKind::configuration) {
        auto configuration = decode_configuration(entry.payload);
        MORTISE_CHECK(configuration.has_value());
        configurations_.add(entry.id.index, std::move(*configuration));
        if (auto* leader = std::get_if<Leader>(&role_)) sync_progress_with_configuration(*leader);
    }
    if (entry.id.index > commit_) uncommitted_bytes_ += weight(entry);
    pending_.append.push_back(entry);
    log_.append(std::move(entry));
}

void Raft::truncate_log(LogIndex from) {
    MORTISE_CHECK(from > commit_);
    MORTISE_CHECK(pending_.append.empty() && !pending_.truncate_from);
    for (auto index = from; index <= log_.last().index; index = index.next())
        uncommitted_bytes_ -= weight(log_.at(index));
    log_.truncate_from(from);
    configurations_.truncate_from(from);
    pending_.truncate_from = from;
}

void Raft::commit_to(LogIndex index) {
    MORTISE_CHECK(index <= log_.last().index);
    for (; commit_ < index; commit_ = commit_.next())
        uncommitted_bytes_ -= weight(log_.at(commit_.next()));
}

void Raft::note(Note::Kind kind, NodeId peer) {
    out_.notes.push_back({kind, term(), peer});
}

void Raft::send(NodeId to, RaftMessage message) {
    out_.send.push_back({to, std::move(message)});
}

bool Raft::has_decided() const {
    return handed_out_ < commit_ && !is_installing();
}

RaftDecided Raft::take_decided() {
    start_read_round();
    RaftDecided decided{{}, std::exchange(granted_reads_, {})};
    if (!has_decided()) return decided;
    const auto left = static_cast<std::size_t>(commit_.raw() - handed_out_.raw());
    decided.committed = log_.slice(handed_out_.next(), options_.decided_bytes_max, left);
    handed_out_ = decided.committed.back().id.index;
    return decided;
}

RaftOutput Raft::collect(Instant now) {
    if (is_leader()) finish_change();
    start_read_round();  // for reads that were requested since then
    update_mark();
    const bool writes = pending_.reset || pending_.hard_state || pending_.truncate_from ||
                        pending_.unsynced || !pending_.append.empty();
    if (writes) {
        pending_.synced = is_to_be_synced(pending_);
        writes_.submit(pending_, log_.last().index, now);
        out_.write = std::exchange(pending_, {});
    }
    send_owed_votes();
    send_owed_replies();
    if (is_leader()) {
        send_appends();
        resign_if_removed();
    }
    close_views();
    note_membership();
    return std::exchange(out_, {});
}

Instant Raft::deadline() const {
    if (const auto* follower = std::get_if<Follower>(&role_))
        return is_giving_a_vote() ? Instant::never() : follower->election_at;
    if (const auto* asking = std::get_if<PreCandidate>(&role_)) return asking->election_at;
    if (const auto* candidate = std::get_if<Candidate>(&role_)) return candidate->election_at;
    return std::get<Leader>(role_).heartbeat_at;
}

void Raft::check_invariants() const {
    MORTISE_CHECK(log_.base().index <= commit_);
    MORTISE_CHECK(commit_ <= log_.last().index);
    MORTISE_CHECK(handed_out_ <= commit_);
    MORTISE_CHECK((uncommitted_bytes_ == 0) == (commit_ == log_.last().index));
    MORTISE_CHECK(writes_.durable() <= log_.last().index);
    MORTISE_CHECK(writes_.hard_state().term <= term());
    MORTISE_CHECK(log_.last().term <= term());
    MORTISE_CHECK(pending_.append.empty() && !pending_.hard_state && !pending_.truncate_from);
    MORTISE_CHECK(!pending_.unsynced && (is_forgetful() || !recovers_at_));
    MORTISE_CHECK(!pending_.reset && !(is_leader() && is_installing()));
    if (const auto* leader = std::get_if<Leader>(&role_)) {
        MORTISE_CHECK(hard_state_.voted_for == self());
        MORTISE_CHECK(leader->first_own <= log_.last().index);
        for (const auto& [id, progress] : leader->peers) {
            MORTISE_CHECK(id != self());
            MORTISE_CHECK(progress.match < progress.next);
            MORTISE_CHECK(progress.next.raw() <= log_.last().index.raw() + 1);
            MORTISE_CHECK(progress.in_flight.size() <= options_.appends_in_flight_max);
            MORTISE_CHECK(progress.read_round_confirmed <= leader->read_round);
        }
    }
}

}  // namespace mortise::core
