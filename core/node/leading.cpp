// Work of a leader for the commands of the cluster: it gathers them into entries, expires sessions,
// and sweeps after them.
#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/overloaded.hpp"
#include "core/node/node_core.hpp"

namespace mortise::core {

namespace {

// The limit of entries that are proposed and not durable here yet. At the limit, new commands
// gather.
constexpr std::size_t writes_in_flight_max = 2;
// The limit of entries in one write. Entries are small, so that each is applied quickly; a slow
// disk gets fewer and larger writes.
constexpr int entries_per_write_max = 32;
constexpr int grace_heartbeats = 3;

Bytes batch_of(const std::vector<Command>& commands) {
    BatchBuilder batch;
    for (const auto& command : commands)
        batch.add(command);
    return batch.take();
}

}  // namespace

void NodeCore::forward_to_leader(Forward forward) {
    if (raft_.is_leader()) {
        take_forward(options_.self, forward);
    } else if (leader_) {
        effects_.send.push_back({*leader_, std::move(forward)});
    }
}

void NodeCore::take_forward(NodeId from, const Forward& forward) {
    if (!raft_.is_leader()) return;  // its sender learns of the new leader and sends again
    auto inbound = look_into(forward);
    if (from != options_.self) {
        const auto owner = owner_of(inbound, from);
        if (owner == Owner::somebody_else) return refuse_forward(from);
        if (owner == Owner::unknown) return keep_early(from, forward);
    }
    set_access(inbound, from);
    // Whatever becomes of the rest: no session is lost over a batch that was not taken.
    if (forward.renewal && forward.renewal->session.is_set()) take_renewal(*forward.renewal);
    if (inbound.batch.empty()) return;
    if (is_ahead_of_the_log(inbound)) {
        keep_early(from, forward);
    } else {
        take_requests(from, std::move(inbound));
    }
}

Seq NodeCore::next_of(const Session& session) const {
    return streams_.next(session.id, session.applied);
}

// What comes before these requests may be in the log, and not applied here yet.
bool NodeCore::is_ahead_of_the_log(const Inbound& inbound) const {
    if (!inbound.session.is_set() || raft_.has_handed_out_own_term()) return false;
    const auto* session = machine_.sessions().find(inbound.session);
    return session != nullptr && inbound.first > next_of(*session);
}

void NodeCore::take_requests(NodeId from, Inbound inbound) {
    if (!has_capacity()) {
        if (inbound.session.is_set()) streams_.hold_up(inbound.session, from);
        return;
    }
    if (inbound.session.is_set()) leave_out_requests(inbound, next_to_take(from, inbound));
    if (!takes_acquires()) decline_what_begins(inbound);
    if (inbound.commands.empty()) return;
    if (!proposer_.add(inbound.batch, inbound.commands.size())) {
        ++refused_messages_;
    } else if (inbound.session.is_set()) {
        streams_.took(inbound.session, inbound.last);
    }
}

// While nothing is proposed, no more gathers than what fills the next entry.
bool NodeCore::has_capacity() const {
    return takes_endings() || !proposer_.has_an_entry();
}

// The first of its requests that is proposed; not set: none. Those of a session that ended would
// have no effect.
Seq NodeCore::next_to_take(NodeId from, const Inbound& inbound) {
    const auto* session = machine_.sessions().find(inbound.session);
    if (session == nullptr) return {};
    if (session->has_too_many_answers()) {
        streams_.forget(inbound.session);  // what is proposed already has no effect either
        return {};
    }
    const auto next = next_of(*session);
    if (inbound.first <= next) return next;
    if (streams_.is_gap_to_tell(inbound.session, next)) tell_gap(from, inbound.session, next);
    return {};
}

void NodeCore::tell_gap(NodeId to, SessionId session, Seq next) {
    if (to == options_.self) {
        agent_.on_gap(session, next);
    } else {
        effects_.send.push_back({to, StreamGap{session, next}});
    }
}

// What was not taken for lack of capacity is asked for when there is some.
void NodeCore::ask_for_held_up() {
    if (!streams_.is_any_held_up() || !has_capacity()) return;
    for (const auto& [id, sender] : streams_.take_held_up()) {
        const auto* session = machine_.sessions().find(id);
        if (session != nullptr) tell_gap(sender, id, next_of(*session));
    }
}

// All but those from `next` on: in the log they would be repeats, or have no effect.
void NodeCore::leave_out_requests(Inbound& inbound, Seq next) {
    if (next == inbound.first) return;
    const auto removed = std::erase_if(inbound.commands, [&](const auto& command) {
        const auto* request = std::get_if<Request>(&command);
        return request != nullptr && (!next.is_set() || request->seq < next);
    });
    if (!next.is_set() || next > inbound.last) inbound.session = {};
    if (removed != 0) inbound.batch = batch_of(inbound.commands);
}

// P11: each is answered under its own number, so the releases behind it go on.
void NodeCore::decline_what_begins(Inbound& inbound) {
    bool declines = false;
    for (auto& command : inbound.commands) {
        auto* request = std::get_if<Request>(&command);
        if (request == nullptr || ends_something(request->body)) continue;
        request->body = Declined{};
        declines = true;
    }
    if (declines) inbound.batch = batch_of(inbound.commands);
}

// A late repeat of one that was applied would never be: its session could not expire any more.
void NodeCore::take_renewal(const Renewal& renewal) {
    const auto* session = machine_.sessions().find(renewal.session);
    const bool late = session != nullptr && renewal.number <= session->renewal_number;
    if (!late) proposer_.add_renewal(renewal);
}

void NodeCore::lead(Now now) {
    take_early_forwards();
    ask_for_held_up();
    take_in_newcomers(now);
    if (may_expire(now)) {
        expire_sessions();
        end_closures();
    }
    const bool sweeping = sweep_at_.is_set() && applied_ < sweep_at_;
    if (machine_.needs_sweep() && !sweeping && raft_.has_handed_out_own_term()) {
        proposer_.add(Sweep{});
        sweep_at_ = LogIndex{std::numeric_limits<std::uint64_t>::max()};  // until it is proposed
    }
    give_way(now);
    propose_state_sum(now);
    propose_batches(now);
}

// A disk that does not keep up delays the whole cluster as long as its node leads. So the node
// transfers leadership to another one, and to the next if that does not help (P7, P10). A leader
// runs with each heartbeat, so this needs no timer of its own.
void NodeCore::give_way(Now now) {
    if (!lags_by_more_than(4)) {
        gives_way_at_ = Instant::never();
        return;
    }
    if (gives_way_at_ == Instant::never()) gives_way_at_ = now.steady + options_.election_timeout;
    if (now.steady < gives_way_at_ || raft_.is_transferring()) return;
    const auto next = next_to_lead(now);
    if (!next) return;
    gave_way_to_ = *next;
    // A transfer may take one timeout; in the other this node does what it can.
    gives_way_at_ = now.steady + 2 * options_.election_timeout;
    raft_.transfer_to(*next, now.steady);
}

// In a circle that begins after this node: so a new leader that lags as well continues with a node
// that had no turn yet.
std::optional<NodeId> NodeCore::next_to_lead(Now now) const {
    std::optional<NodeId> first;
    for (const auto id : raft_.configuration().all()) {
        if (!raft_.configuration().is_voter(id) || !raft_.is_caught_up(id, now.steady)) continue;
        if (id > gave_way_to_) return id;
        if (!first) first = id;
    }
    return first;
}

void NodeCore::propose_batches(Now now) {
    if (!proposer_.has_renewals()) {
        renewals_due_ = Instant::never();  // the sessions of those that waited may have ended
    } else if (renewals_due_ == Instant::never()) {
        renewals_due_ = now.steady + options_.heartbeat;
    }
    // All entries of one step are one write: what follows gathers behind it.
    for (int entry = 0; entry < entries_per_write_max && propose_batch(now); ++entry) {
    }
}

// False if there is nothing more to propose now.
bool NodeCore::propose_batch(Now now) {
    const bool due = proposer_.has_renewals() && now.steady >= renewals_due_;
    const bool all = takes_endings();
    if ((!due && !(all && proposer_.has_commands())) || !can_propose()) return false;
    const auto newest = format_to_propose();
    auto batch = all ? proposer_.take_batch(newest) : proposer_.take_renewals(newest);
    const auto format = format_of(batch);
    const auto index = raft_.propose(EntryKind::commands, std::move(batch), now.steady);
    if (!index) return false;  // it has stepped down: the senders send again what was taken
    remember_format(format);
    if (all && sweep_at_.raw() == std::numeric_limits<std::uint64_t>::max()) sweep_at_ = *index;
    if (!proposer_.has_renewals()) renewals_due_ = Instant::never();
    return true;
}

bool NodeCore::can_propose() const {
    return raft_.is_leader() && !raft_.is_transferring() &&
           raft_.writes_in_flight() < writes_in_flight_max &&
           raft_.uncommitted_bytes() < options_.uncommitted_bytes_max && takes_entries();
}

// Grace (S4): a new leader, or one that lost contact, first lets renewals arrive; and it judges no
// session before it has applied what earlier leaders committed.
bool NodeCore::may_expire(Now now) const {
    const auto grace = options_.heartbeat * grace_heartbeats;
    return now.steady >= raft_.contact_since() + grace && raft_.has_handed_out_own_term();
}

void NodeCore::end_closures() {
    const auto is_there = [&](ClosureId id) {
        return machine_.table().find_closure(id).has_value();
    };
    for (const auto closure : closure_quorum_.decide(
             {raft_.configuration(), options_.self, closures_.run_out()}, is_there))
        proposer_.add(EndClosure{closure});
}

void NodeCore::expire_sessions() {
    const auto is_newest = [&](const RenewedLease& lease) {
        return machine_.sessions().is_newest_renewal(lease.session, lease.renewed_at);
    };
    const auto may_end = [&](const RenewedLease& lease) {
        return !proposer_.has_renewal_of(lease.session);
    };
    for (const auto& lease : lease_quorum_.decide(
             {raft_.configuration(), options_.self, leases_.run_out()}, is_newest, may_end))
        proposer_.add(Expire{lease.session, lease.renewed_at});
}

void NodeCore::on_applied_outcome(const Outcome& outcome, LogIndex index, Now now) {
    const auto ended = [&](SessionId session) {
        leases_.stop(session);
        lease_quorum_.forget(session);
        proposer_.renewal_applied(session, std::numeric_limits<std::uint64_t>::max());
        streams_.forget(session);
    };
    const auto renewed = [&](SessionId id) {
        const auto* session = machine_.sessions().find(id);
        if (session == nullptr) return;  // ended later in the same entry
        leases_.stop(id);
        leases_.start({id, session->renewed_at}, lease_times(session->opened),
                      saved_elapsed(*session), now.steady);
        lease_quorum_.forget(id);
    };
    std::visit(
        Overloaded{
            [&](const SessionOpened& opened) {
                const auto* session = machine_.sessions().find(opened.session);
                if (session != nullptr && session->renewed_at == index) renewed(opened.session);
            },
            [&](const SessionRenewed& renewal) {
                renewed(renewal.session);
                proposer_.renewal_applied(renewal.session, renewal.number);
            },
            [&](const RenewalLost& lost) { ended(lost.session); },
            [&](const SessionEnded& end) { ended(end.session); },
            [&](const ClosureBegun& begun) {
                // From when the renewal was applied, not from the break.
                closures_.start(begun.closure, closure_times(begun.time_ms, begun.rho_ppm),
                                leases_.elapsed({begun.hold.session, begun.since}, now.steady),
                                now.steady);
            },
            [&](const ClosureEnded& end) {
                closures_.stop(end.closure);
                closure_quorum_.forget(end.closure);
            },
            [&](const Answered& answered) {
                if (answered.answer.kind == AnswerKind::converted)
                    contentions_.converted(agent_.converted_by(answered.operation));
            },
            [&](const Queued& queued) { note_waiter(queued.operation); },
            [&](const ReleaseAsked& asked) {
                contentions_.on(asked,
                                [&](OperationId hold) { return agent_.names_of(hold) != nullptr; });
            },
            [](const auto&) {},
        },
        outcome);
    agent_.on_outcome(outcome, index, now);
}

// Unless it does not wait any more.
void NodeCore::note_waiter(OperationId waiter) {
    if (contentions_.is_empty()) return;
    const auto* session = machine_.sessions().find(waiter.session);
    if (session == nullptr) return;
    const auto found = session->operations.find(waiter.seq);
    if (found == session->operations.end() || found->second.held) return;
    for (const auto& name : found->second.names)
        contentions_.somebody_waits(name);
}

}  // namespace mortise::core
