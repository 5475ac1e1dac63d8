// One step: the event is handled, the log progresses, committed entries are applied, and this
// node's messages and answers are collected.
#include "core/node/node_core.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>

#include "core/base/check.hpp"

namespace mortise::core {

namespace {

constexpr std::size_t run_outs_per_reply_max = 1'024;

template <class Timer>
std::vector<Timer> first_of(const std::set<Timer>& run_out) {
    const auto told = std::min(run_out.size(), run_outs_per_reply_max);
    return {run_out.begin(), std::next(run_out.begin(), static_cast<std::ptrdiff_t>(told))};
}

RaftOptions raft_options(const NodeOptions& options) {
    RaftOptions raft;
    raft.self = options.self;
    raft.incarnation = options.generation.incarnation;
    raft.snapshot_bytes_max = options.snapshot_bytes_max;
    raft.decided_bytes_max = options.apply_bytes_max;
    raft.election_timeout = options.election_timeout;
    raft.heartbeat = options.heartbeat;
    return raft;
}

// Longer than the time after which a peer that refused a hello is called again.
Nanoseconds doubt_lasts(Nanoseconds election_timeout) {
    constexpr Nanoseconds doubt_min = std::chrono::minutes{1};
    return std::max(60 * election_timeout, doubt_min);
}

// The last of many checks of the proposer's checksum: a change in memory since then is detected
// here. Otherwise it would exist on one replica only.
void check_intact(const Entry& entry) {
    if (is_intact(entry)) return;
    throw InvariantBroken{"entry " + std::to_string(entry.id.index.raw()) +
                          " was damaged in memory: it is not what was proposed"};
}

AgentOptions agent_options(const NodeOptions& options) {
    return {options.self,
            options.generation,
            options.former_life_ended,
            options.session_ttl_ms,
            options.clock_rate_bound_ppm,
            options.call_timeout,
            options.election_timeout,
            options.access,
            options.window};
}

}  // namespace

NodeCore::NodeCore(NodeOptions options, NodeState state, Now now)
    : options_{std::move(options)},
      prng_{options_.seed},
      raft_{raft_options(options_), std::move(state.raft), Prng{prng_.next()}, now.steady},
      machine_{std::move(state.machine)},
      applied_{raft_.commit_index()},
      agent_{agent_options(options_), Prng{prng_.next()}, now},
      doubts_{doubt_lasts(options_.election_timeout)},
      former_cluster_{state.former_cluster},
      changes_{options_.generation.boot_epoch, {options_.election_timeout, options_.heartbeat}},
      handed_over_{applied_},
      gave_way_to_{options_.self} {
    MORTISE_CHECK(options_.self.is_set() && options_.generation.incarnation.is_set());
    const auto& log = raft_.log();
    for (auto index = log.first_index(); index <= log.last().index; index = index.next())
        remember_format(log.at(index));
    restart_countdowns(state.countdowns, now);
}

// A countdown continues from its saved value, or begins: it has never elapsed already (S4).
Nanoseconds NodeCore::saved_elapsed(const Session& session) const {
    const auto saved = saved_leases_.find(session.id);
    const bool same =
        saved != saved_leases_.end() && saved->second.timer.renewed_at == session.renewed_at;
    return same ? saved->second.elapsed : Nanoseconds{};
}

Effects NodeCore::step(Event event, Now now) {
    stepped_at_ = now.steady;
    agent_.begin(now);
    if (std::exchange(was_removed_, false)) agent_.on_removed();
    raft_.begin_event(now.steady);
    raft_.set_room(takes_entries());
    std::visit([&](auto& e) { on(e, now); }, event);
    form_if_unanimous(now);
    ask_leader(now);
    take_decided(now);
    judge_own_life(now);
    watch_leadership(now);
    answer_reads(now);
    // Applying may have made work: waiters that continue, grants that came too late, names to
    // sweep.
    auto agent = agent_.collect(now);
    for (auto& forward : agent.forwards)
        forward_to_leader(std::move(forward));
    leases_.advance(now.steady);
    closures_.advance(now.steady);
    if (raft_.is_leader()) lead(now);
    ask_for_changes(now);
    take_raft_output(now);
    tell_peers(now);
    for (const auto& lost : agent.lost)
        contentions_.forget(lost.hold);
    for (const auto withdrawn : agent.withdrawn)
        contentions_.forget(withdrawn);
    if (!contentions_.is_empty()) effects_.contended = contentions_.take(machine_);
    effects_.lost = std::move(agent.lost);
    effects_.suspended = std::move(agent.suspended);
    effects_.lease = agent.lease;
    std::ranges::move(agent.answers, std::back_inserter(effects_.answers));
    if (now.steady >= std::min(leases_.save_at(), closures_.save_at())) {
        effects_.save_countdowns = countdowns(now);
        leases_.saved(now.steady);
        closures_.saved(now.steady);
    }
    hand_over_state(now);
    effects_.deadline = deadline();
    return std::exchange(effects_, {});
}

Instant NodeCore::deadline() const {
    if (was_removed_ || raft_.has_decided()) return stepped_at_;
    auto next = std::min({raft_.deadline(), agent_.deadline(), leases_.deadline(),
                          closures_.deadline(), reads_.deadline(), reads_due_,
                          forgets_outsiders_at(), changes_.deadline(raft_.leader().has_value()),
                          founding_.ask_at, doubts_.deadline(), doubts_ask_at_});
    if (!raft_.is_installing()) next = std::min(next, state_due_);
    // While nothing can be proposed a due time would only make the caller spin: the event that ends
    // this is a step of its own.
    if (can_propose()) next = std::min(next, renewals_due_);
    return next;
}

void NodeCore::take_decided(Now now) {
    auto decided = raft_.take_decided();
    for (auto& entry : decided.committed)
        apply(entry, now);
    for (const auto& grant : decided.reads)
        reads_.granted(grant.id, grant.index);
}

void NodeCore::take_raft_output(Now now) {
    auto raft = raft_.collect(now.steady);
    effects_.write = std::move(raft.write);
    std::ranges::move(raft.notes, std::back_inserter(effects_.notes));
    std::ranges::move(raft.distrusted, std::back_inserter(effects_.disconnect));
    was_removed_ =
        std::ranges::find(effects_.notes, Note::Kind::removed, &Note::kind) != effects_.notes.end();
    effects_.read_snapshot = std::move(raft.read_snapshot);
    effects_.close_snapshots = std::move(raft.close_snapshots);
    for (auto& step : raft.install)
        install(std::move(step));
    for (auto& envelope : raft.send) {
        if (auto* reply = std::get_if<AppendReply>(&envelope.message)) {
            reply->run_out = first_of(leases_.run_out());
            reply->closures_run_out = first_of(closures_.run_out());
        }
        effects_.send.push_back({envelope.to, std::move(envelope.message)});
    }
}

void NodeCore::apply(Entry& entry, Now now) {
    MORTISE_CHECK(entry.id.index == applied_.next());
    check_intact(entry);
    applied_ = entry.id.index;
    lag_.applied(entry);
    remember_format(entry);
    agent_.on_progress(now);
    Applied applied{std::move(entry), {}};
    if (applied.entry.kind == EntryKind::commands) {
        machine_.apply(applied_, commands_in(applied.entry), applied.outcomes);
        for (const auto& outcome : applied.outcomes)
            on_applied_outcome(outcome, applied_, now);
    } else if (applied.entry.kind == EntryKind::state_sum) {
        compare_state_sum(applied.entry);
    }
    remember_state_sum();
    effects_.applied.push_back(std::move(applied));
}

void NodeCore::watch_leadership(Now now) {
    const auto leader = raft_.leader();
    if (leader == leader_ && raft_.term() == leader_term_) return;
    const bool led = leader_ == options_.self;
    leader_ = leader;
    leader_term_ = raft_.term();
    if (led || raft_.is_leader()) {
        proposer_.clear();
        streams_.clear();
        early_forwards_.clear();
        lease_quorum_.clear();
        closure_quorum_.clear();
        sweep_at_ = {};
        sum_proposed_ = {};
        renewals_due_ = Instant::never();
        gives_way_at_ = Instant::never();
    }
    agent_.on_leader(leader.has_value(), now);
    // Questions to the old leader may never be answered.
    reads_.ask_all_again();
    ask_leader(now);
    changes_.ask_all_again(now.steady);
}

void NodeCore::on(const TimerFired& /*event*/, Now now) {
    raft_.on_timer(now.steady);
    agent_.on_timer(now);
    read_overdue(now);
    for (const auto peer : unfounded_)
        offer_formation(peer);
}

void NodeCore::on(const PeerDown& event, Now now) {
    connected_.erase(event.peer);
    keep_pace();
    outlived_.erase(event.peer);
    unfounded_.erase(event.peer);
    early_forwards_.erase(event.peer);
    raft_.on_peer_down(event.peer, now.steady);
}

void NodeCore::on(SnapshotRows& event, Now now) {
    raft_.on_snapshot_rows(std::move(event), now.steady);
}

// A message of a lost directory, or of an earlier run, does not count as one of the present run.
void NodeCore::on(Received& event, Now now) {
    const auto sender = connected_.find(event.from);
    const bool current = sender != connected_.end() &&
                         (!event.start || event.start->is_same_start(sender->second.generation));
    if (!current) {
        ++refused_messages_;
        const auto outlived = outlived_.find(event.from);
        if (outlived != outlived_.end()) tell_superseded(event.from, outlived->second);
        return;
    }
    std::visit([&](auto& message) { receive(event.from, message, now); }, event.message);
}

void NodeCore::receive(NodeId from, RaftMessage& message, Now now) {
    // In this order: an impossible message is no evidence about its sender either.
    if (!is_admitted(from, message) || raft_.refuses(from, message) ||
        !is_believed(from, message)) {
        ++refused_messages_;
        return;
    }
    unfounded_.erase(from);
    const auto* reply = std::get_if<AppendReply>(&message);
    const bool reports = reply != nullptr && raft_.is_leader() && reply->term == raft_.term();
    if (reports) {
        lease_quorum_.report(from, reply->run_out);
        closure_quorum_.report(from, reply->closures_run_out);
    }
    raft_.take_message(from, std::move(message), now.steady);
    if (reports) remember_acknowledged(from);
    remember_replicated();
}

void NodeCore::receive(NodeId from, const Forward& message, Now /*now*/) {
    if (!is_formed() || !is_trusted(from)) {
        ++refused_messages_;
        return dismiss_stranger(from);
    }
    take_forward(from, message);
}

void NodeCore::receive(NodeId from, const StreamGap& message, Now /*now*/) {
    if (is_trusted(from)) agent_.on_gap(message.session, message.next);
}

void NodeCore::on(const WriteDone& event, Now now) {
    const bool was_durable = raft_.durable_index() >= LogIndex{1};
    raft_.on_write_done(event.id, now.steady);
    if (was_durable) return;
    for (const auto peer : unfounded_)
        offer_formation(peer);
}

void NodeCore::on(Calls& event, Now now) {
    for (auto& one : event.calls) {
        if (auto refused = denied(one)) {
            effects_.answers.push_back({tag_of(one), std::move(*refused)});
            continue;
        }
        std::visit([&](auto& c) { call(c, now); }, one);
    }
}

void NodeCore::on(const TransferLeadership& event, Now now) {
    raft_.transfer_to(event.target, now.steady);
}

void NodeCore::check_invariants() const {
    raft_.check_invariants();
    MORTISE_CHECK(applied_ <= raft_.commit_index());
    constexpr std::uint64_t sweep_every = 16;
    if (++checks_ % sweep_every != 0) return;
    agent_.check_invariants();
    check_grants_are_accounted_for();
}

// S6: every grant of this node's live session belongs to a hold or to the reaper.
void NodeCore::check_grants_are_accounted_for() const {
    const auto id = agent_.open_session();
    const auto* session = id ? machine_.sessions().find(*id) : nullptr;
    if (session == nullptr || session->operations.empty()) return;
    const auto seq_of = [](const auto& operation) { return operation.first; };
    MORTISE_CHECK(
        std::ranges::includes(agent_.accounted_for(), session->operations, {}, {}, seq_of));
}

}  // namespace mortise::core
