// Takes the calls of the program, and gives up calls that were cancelled or whose time is over.
#include <algorithm>
#include <limits>
#include <utility>

#include "core/agent/session_agent.hpp"
#include "core/base/check.hpp"
#include "core/base/overloaded.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

namespace {

// The others at a barrier must not wait for an arrival that was given up, nor pass with it (S35).
RequestBody ending_of(Seq seq, const RequestBody& given_up) {
    if (const auto* arrival = std::get_if<Arrive>(&given_up)) return Quit{seq, arrival->name};
    return Cancel{seq};
}

// A bound, so that no step takes long when many calls end at once (P10).
constexpr std::size_t given_up_per_step_max = 1'024;

}  // namespace

// --- calls of the program -----------------------------------------------------------------------

bool SessionAgent::has_capacity_for(std::size_t names) const {
    return calls_.names() + ending_names_ + names <= operations_max;
}

// A release or cancel is never refused, so its capacity is reserved here: each call and each hold
// becomes at most one release or cancel, which takes its place in the count (P11).
void SessionAgent::take_call(AgentRequest call, Now now) {
    const auto tag = call.tag;
    MORTISE_CHECK(tag.is_set() && !calls_.contains(tag));
    if (stage_ != Stage::open) return refuse(tag, CallError::node_stopped);
    if (!has_capacity_for(call.names) || holds_.names() >= holds_max)
        return refuse(tag, CallError::resource_exhausted);
    if (auto* held = holds_.find(call.hold)) held->conversions().upgrade = tag;
    call.began = now.steady;
    call.is_short = call.deadline < now.steady + options_.answer_time;
    watch(call, std::min(call.deadline, now.steady + options_.call_timeout));
    calls_.add(std::move(call));
}

void SessionAgent::watch(AgentRequest& call, Instant gives_up) {
    call.gives_up = gives_up;
    deadlines_.add(call.tag, gives_up);
}

void SessionAgent::on_acquire(AcquireCall call, Now now) {
    const auto names = call.request.names.size();
    AgentRequest request{std::move(call.request), call.tag, {}, names};
    request.deadline = call.deadline;
    request.suspends = call.suspends;
    take_call(std::move(request), now);
}

void SessionAgent::on_write(WriteCall call, Now now) {
    if (call.hold.session.is_set() && find_hold(call.hold) == nullptr)
        return refuse(call.tag, CallError::lock_lost);
    AgentRequest request{std::move(call.body), call.tag};
    request.writes = true;
    take_call(std::move(request), now);
}

void SessionAgent::on_await(AwaitCall call, Now now) {
    AgentRequest request{std::move(call.body), call.tag};
    request.deadline = call.deadline;
    take_call(std::move(request), now);
}

void SessionAgent::on_upgrade(const UpgradeCall& call, Now now) {
    const Held* held = find_hold(call.hold);
    if (held == nullptr) return refuse(call.tag, CallError::lock_lost);
    if (held->size() > 1 || held->conversions().upgrade.is_set())
        return refuse(call.tag, CallError::invalid_argument);
    AgentRequest request{Upgrade{call.hold.seq, call.wait}, call.tag, call.hold.seq};
    request.deadline = call.deadline;
    take_call(std::move(request), now);
}

// The caller stops using the former mode when it asks for a downgrade, so the request is resent
// until it is applied, however late that is.
void SessionAgent::on_downgrade(const DowngradeCall& call, Now now) {
    auto* held = find_hold(call.hold);
    if (held == nullptr) return refuse(call.tag, CallError::lock_lost);
    // A pending upgrade was requested for the hold in its present mode.
    const bool is_upgrading = std::as_const(*held).conversions().upgrade.is_set();
    if (held->size() > 1 || (is_upgrading && !call.undoes))
        return refuse(call.tag, CallError::invalid_argument);
    if (!call.undoes && !has_capacity_for(1))
        return refuse(call.tag, CallError::resource_exhausted);
    if (covers(held->wanted, call.mode)) held->wanted = call.mode;
    ++held->conversions().downgrades;
    expect_end(call.tag, false, now);
    end({Downgrade{call.hold.seq, call.mode}, call.tag, {}});
}

void SessionAgent::on_confirm(const ConfirmCall& call, Now now) {
    MORTISE_CHECK(call.tag.is_set());
    if (find_hold(call.hold) == nullptr) return refuse(call.tag, CallError::lock_lost);
    if (confirmations_.is_full()) return refuse(call.tag, CallError::resource_exhausted);
    confirmations_.add(call.tag, call.hold.seq, session_.newest_renewal(), call.deadline);
    deadlines_.add(call.tag, call.deadline);
    session_.renew(now);
}

void SessionAgent::on_publish(PublishCall call) {
    if (find_hold(call.hold) == nullptr) return;
    end({Publish{call.hold.seq, call.token, std::move(call.locker), std::move(call.label),
                 call.ended},
         {},
         {},
         0});
}

void SessionAgent::on_cancel(const CancelCall& call, Now /*now*/) {
    if (calls_.contains(call.tag)) abandon(call.tag, CallError::cancelled);
}

void SessionAgent::on_release(const ReleaseCall& call, Now now) {
    if (find_hold(call.hold) == nullptr) {
        on_notified(call.hold);  // a caller that releases a hold no longer relies on it
        if (call.tag.is_set()) refuse(call.tag, CallError::lock_lost);
        return;
    }
    const auto held = *holds_.take(call.hold.seq);
    drop_upgrade(held, CallError::cancelled);
    if (call.tag.is_set()) expect_end(call.tag, true, now);
    end_confirms(CallError::not_held);
    if (call.lost) return end_when_notified(call.hold.seq, call.tag, held.names());
    end({Release{call.hold.seq, false}, call.tag, {}, held.size()});
}

void SessionAgent::on_close(const CloseCall& call, Now /*now*/) {
    close_tag_ = call.tag;
    for (const auto hold : call.to_notify)
        close_when_notified(hold);
    for (const auto operation : holds_.all()) {
        (void)holds_.take(operation);
        out_.lost.push_back({{*session_.id(), operation}, HoldLost::Reason::node_stopped});
    }
    end_confirms(CallError::node_stopped);
    // The requests that were sent end with the session. An answer that still comes has no caller.
    fail_calls(CallError::node_stopped);
    session_.stop_renewing();
    stage_ = session_.id() ? Stage::closing : Stage::closed;
    if (stage_ == Stage::closed) out_.answers.push_back({call.tag, Closed{}});
}

// --- calls that are given up --------------------------------------------------------------------

// Queues a release, cancel or downgrade. It is resent until it is confirmed, even if no caller
// waits for it.
void SessionAgent::end(AgentRequest ending) {
    ++endings_open_;
    ending_names_ += ending.names;
    endings_.push_back(std::move(ending));
}

void SessionAgent::expect_end(CallTag tag, bool releases, Now now) {
    if (!tag.is_set()) return;
    const auto gives_up = now.steady + options_.call_timeout;
    enders_.insert(tag, {gives_up, releases});
    deadlines_.add(tag, gives_up);
}

// Its caller has an answer, or will have one in this step. Its request was taken.
void SessionAgent::finish(const AgentRequest& call) {
    calls_.end(call);
    std::vector<CallTag> freed;
    if (!parked_.are_none()) parked_.remove(call.tag, freed);
    go_on_with(freed);
    auto* held = call.hold.is_set() ? holds_.find(call.hold) : nullptr;
    if (held != nullptr && std::as_const(*held).conversions().upgrade == call.tag)
        held->conversions().upgrade = {};
}

const AgentRequest* SessionAgent::find_call(CallTag tag) const {
    const auto* call = calls_.find(tag);
    return call != nullptr ? call : window_.find(calls_.sent_as(tag));
}

// A request that has left stays in the window, and has no caller there.
AgentRequest SessionAgent::take_call_back(CallTag tag) {
    auto* sent = window_.find(calls_.sent_as(tag));
    if (sent == nullptr) return calls_.take(tag);
    auto call = *sent;
    sent->tag = {};
    return call;
}

// Answers the caller at once. A request without a sequence number is dropped. A request that has
// one gets a Cancel behind it (S18), and copies that are still to be sent become a no-op: the
// stream needs the number, but an abandoned write must not take effect later.
void SessionAgent::abandon(CallTag tag, CallError error) {
    const auto call = take_call_back(tag);
    if (call.seq.is_set() && call.writes) error = CallError::outcome_unknown;  // P6
    answer(call, error);
    if (call.seq.is_set()) end_abandoned(call);
}

void SessionAgent::end_abandoned(const AgentRequest& call) {
    if (auto* sent = window_.find(call.seq)) sent->body = Declined{};
    if (call.writes) return;  // a write holds and queues nothing, so there is nothing to cancel
    if (auto* held = holds_.find(call.hold)) held->conversions().unsettled = call.seq;
    end({ending_of(call.seq, call.body), {}, call.hold, call.names});
}

// Called before the hold itself ends.
void SessionAgent::drop_upgrade(const Held& held, CallError error) {
    const auto upgrade = held.conversions().upgrade;
    if (upgrade.is_set()) abandon(upgrade, error);
}

bool SessionAgent::is_current(CallTag tag, Instant at) const {
    if (const auto* call = find_call(tag)) return call->gives_up == at;
    if (const auto* ender = enders_.find(tag)) return ender->gives_up == at;
    return confirmations_.waits_until(tag, at);
}

// A leader that has committed entries since the call began has a majority. If it did not take the
// request, the cluster is overloaded.
CallError SessionAgent::why_not_taken(const AgentRequest& call, Now now) const {
    const bool is_led = session_.is_leader_known() && heard_at_ > call.began &&
                        now.steady <= heard_at_ + 2 * options_.resend_after;
    return is_led ? CallError::resource_exhausted : CallError::no_quorum;
}

// The remaining calls are given up in the next step, which is due at once.
void SessionAgent::give_up_overdue(Now now) {
    const auto is_waiting = [this](CallTag tag, Instant at) { return is_current(tag, at); };
    for (std::size_t count = 0; count < given_up_per_step_max; ++count) {
        const auto tag = deadlines_.take_due(now.steady, is_waiting);
        if (!tag.is_set()) return;
        give_up(tag, now);
    }
}

void SessionAgent::give_up(CallTag tag, Now now) {
    if (const auto ender = enders_.take(tag)) {
        // The request is still resent until it is confirmed. Whether a release was applied is
        // unknown (P6). After a downgrade the caller does not use the former mode, whenever the
        // cluster applies it.
        return refuse(tag, ender->releases ? CallError::outcome_unknown : CallError::no_quorum);
    }
    if (confirmations_.forget(tag)) return refuse(tag, CallError::no_quorum);
    const auto& call = *find_call(tag);
    if (call.queued && is_try(call)) return give_up_try(tag);
    // `timed_out` promises that the cluster has queued the request, and that it was not granted
    // (S48). Whoever waits for less than an answer takes learns nothing about the cluster: it ran
    // out of time, unless there is no leader.
    const bool was_brief = call.is_short && session_.is_leader_known();
    abandon(tag, call.queued || was_brief ? CallError::timed_out : why_not_taken(call, now));
}

// The cluster queued the try because only cached grants were in its way. They are in use, or their
// nodes do not answer (S43).
void SessionAgent::give_up_try(CallTag tag) {
    const auto call = take_call_back(tag);
    Busy busy;
    busy.seen.name = std::get<Acquire>(call.body).names.front().name;
    answer(call, std::move(busy));
    end_abandoned(call);
}

bool SessionAgent::is_try(const AgentRequest& call) {
    const auto* acquire = std::get_if<Acquire>(&call.body);
    return acquire != nullptr && !acquire->wait;
}

// --- tries that are answered by a read ----------------------------------------------------------

// A read needs an open session: opening one frees what an earlier run of this node held (S10). It
// is not used either while a release has no sequence number yet: the release goes first, and the
// try follows it through the log.
std::optional<OperationId> SessionAgent::read_behind(const Names& names) const {
    constexpr auto last = std::numeric_limits<std::uint64_t>::max();
    const bool is_lost_here = !parked_.are_none() && parked_.must_wait(names, last);
    if (!open_session() || !endings_.empty() || is_lost_here) return std::nullopt;
    return OperationId{*session_.id(), window_.newest()};
}

bool SessionAgent::is_applied(OperationId request) const {
    return session_.id() != request.session || request.seq < window_.first();
}

void SessionAgent::answer_busy(CallTag tag, LockView seen) {
    if (calls_.contains(tag)) answer(take_call_back(tag), Busy{std::move(seen)});
}

}  // namespace mortise::core
