// What the program asks for, and calls that are given up: by their caller or by their time.
#include <algorithm>
#include <limits>
#include <utility>

#include "core/agent/session_agent.hpp"
#include "core/base/check.hpp"
#include "core/base/overloaded.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {

namespace {

// No step of a node takes long because many calls end at once (P10).
constexpr std::size_t given_up_per_step_max = 1'024;

}  // namespace

// --- what is asked ------------------------------------------------------------------------------

bool SessionAgent::has_room_for(std::size_t names) const {
    return calls_.names() + ending_names_ + names <= operations_max;
}

// What ends something is never refused, so it is counted here: each call and each hold becomes at
// most one release or cancel, which takes the place of what it ends (P11).
void SessionAgent::take_call(CallTag tag, OpenCall call, Now now) {
    MORTISE_CHECK(tag.is_set() && !calls_.contains(tag));
    if (stage_ != Stage::open) return refuse(tag, CallError::node_stopped);
    if (!has_room_for(call.names) || holds_.names() >= holds_max)
        return refuse(tag, CallError::resource_exhausted);
    if (auto* held = holds_.find(call.hold)) held->upgrade = tag;
    watch(tag, call, std::min(call.deadline, now.steady + options_.call_timeout));
    calls_.add(tag, std::move(call));
}

void SessionAgent::watch(CallTag tag, OpenCall& call, Instant gives_up) {
    call.gives_up = gives_up;
    deadlines_.add(tag, gives_up);
}

void SessionAgent::on_acquire(AcquireCall call, Now now) {
    OpenCall open;
    open.names = call.request.names.size();
    open.asked = std::move(call.request);
    open.deadline = call.deadline;
    open.suspends = call.suspends;
    take_call(call.tag, std::move(open), now);
}

void SessionAgent::on_write(WriteCall call, Now now) {
    if (call.hold.session.is_set() && find_hold(call.hold) == nullptr)
        return refuse(call.tag, CallError::lock_lost);
    OpenCall open;
    open.asked = std::move(call.body);
    open.deadline = Instant::never();
    open.writes = true;
    take_call(call.tag, std::move(open), now);
}

void SessionAgent::on_upgrade(const UpgradeCall& call, Now now) {
    const auto* held = find_hold(call.hold);
    if (held == nullptr) return refuse(call.tag, CallError::lock_lost);
    if (held->names.size() > 1 || held->upgrade.is_set())
        return refuse(call.tag, CallError::invalid_argument);
    OpenCall open;
    open.asked = Upgrade{call.hold.seq, call.wait};
    open.hold = call.hold.seq;
    open.deadline = call.deadline;
    take_call(call.tag, std::move(open), now);
}

// Who asked for a downgrade does not use the hold as before from then on, so it is sent until it is
// done, however late the answer is.
void SessionAgent::on_downgrade(const DowngradeCall& call, Now now) {
    auto* held = find_hold(call.hold);
    if (held == nullptr) return refuse(call.tag, CallError::lock_lost);
    // An upgrade that waits is asked for the hold as it is.
    if (held->names.size() > 1 || (held->upgrade.is_set() && !call.undoes))
        return refuse(call.tag, CallError::invalid_argument);
    if (!call.undoes && !has_room_for(1)) return refuse(call.tag, CallError::resource_exhausted);
    if (covers(held->wanted, call.mode)) held->wanted = call.mode;
    ++held->downgrades;
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

void SessionAgent::on_cancel(const CancelCall& call, Now /*now*/) {
    if (calls_.contains(call.tag)) abandon(call.tag, CallError::cancelled);
}

void SessionAgent::on_release(const ReleaseCall& call, Now now) {
    if (find_hold(call.hold) == nullptr) {
        on_told(call.hold);  // who lets go of it does not believe in it any more
        if (call.tag.is_set()) refuse(call.tag, CallError::lock_lost);
        return;
    }
    auto held = *holds_.take(call.hold.seq);
    drop_upgrade(held, CallError::cancelled);
    if (call.tag.is_set()) expect_end(call.tag, true, now);
    end_confirms(CallError::not_held);
    if (call.lost) return end_when_told(call.hold.seq, call.tag, std::move(held.names));
    end({Release{call.hold.seq, false}, call.tag, {}, held.names.size()});
}

void SessionAgent::on_close(const CloseCall& call, Now /*now*/) {
    close_tag_ = call.tag;
    for (const auto operation : holds_.all()) {
        (void)holds_.take(operation);
        out_.lost.push_back({{*session_.id(), operation}, HoldLost::Reason::node_stopped});
    }
    end_confirms(CallError::node_stopped);
    // What was sent ends with the session; an answer that comes before that is nobody's.
    for (const auto tag : calls_.tags()) {
        const auto call_sent = calls_.find(tag)->seq;
        if (auto* sent = window_.find(call_sent)) sent->tag = {};
    }
    fail_calls(CallError::node_stopped);
    session_.stop_renewing();
    stage_ = session_.id() ? Stage::closing : Stage::closed;
    if (stage_ == Stage::closed) out_.answers.push_back({call.tag, Closed{}});
}

// --- what is given up ---------------------------------------------------------------------------

// A release, cancel or downgrade: whoever waits for it, it is sent until it is done.
void SessionAgent::end(Outgoing ending) {
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

// Takes a call off every list but that of what was sent.
OpenCall SessionAgent::finish(CallTag tag) {
    auto call = calls_.take(tag);
    std::vector<CallTag> freed;
    if (!parked_.are_none()) parked_.remove(tag, freed);
    go_on_with(freed);
    if (auto* held = holds_.find(call.hold); held != nullptr && held->upgrade == tag)
        held->upgrade = {};
    return call;
}

void SessionAgent::answer(CallTag tag, CallError error) {
    finish(tag);
    out_.answers.push_back({tag, error});
}

// Who waits is answered at once. What has no number is simply gone. What has one gets a Cancel
// behind it (S18), and copies of it that are still to be sent do nothing: its number has to be
// used, but a write that nobody waits for shall not take effect at any later time.
void SessionAgent::abandon(CallTag tag, CallError error) {
    const auto call = finish(tag);
    if (call.seq.is_set() && call.writes) error = CallError::outcome_unknown;  // P6
    out_.answers.push_back({tag, error});
    if (!call.seq.is_set()) return;
    if (auto* sent = window_.find(call.seq)) {
        sent->tag = {};
        sent->body = Declined{};
    }
    if (call.writes) return;  // it takes up nothing, so there is nothing to cancel
    if (auto* held = holds_.find(call.hold)) held->unsettled = call.seq;
    end({Cancel{call.seq}, {}, call.hold, call.names});
}

// Before the hold itself goes.
void SessionAgent::drop_upgrade(const Held& held, CallError error) {
    if (held.upgrade.is_set()) abandon(held.upgrade, error);
}

bool SessionAgent::is_current(CallTag tag, Instant at) const {
    if (const auto* call = calls_.find(tag)) return call->gives_up == at;
    if (const auto* ender = enders_.find(tag)) return ender->gives_up == at;
    return confirmations_.waits_until(tag, at);
}

// Where a leader decides things all the time there is a majority: what it had no time for was too
// much.
CallError SessionAgent::why_not_taken(Now now) const {
    const bool is_led =
        session_.is_leader_known() && now.steady <= heard_at_ + 2 * options_.resend_after;
    return is_led ? CallError::resource_exhausted : CallError::no_quorum;
}

// The rest with the next step, which is due at once.
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
        // It goes on being done. Whether it was released nobody can tell yet (P6); in its former
        // mode it is not used any more, whenever the cluster hears of it.
        return refuse(tag, ender->releases ? CallError::outcome_unknown : CallError::no_quorum);
    }
    if (confirmations_.forget(tag)) return refuse(tag, why_not_taken(now));
    // Empty-handed only if the cluster said so (S48).
    abandon(tag, calls_.find(tag)->queued ? CallError::timed_out : why_not_taken(now));
}

// --- tries that are answered from a read --------------------------------------------------------

// Not before there is a session: with that, what a former life of this node held is free (S10). Nor
// when something is still to be numbered: it goes first, and then the try through the log.
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
    if (!calls_.contains(tag)) return;
    finish(tag);
    out_.answers.push_back({tag, Busy{std::move(seen)}});
}

}  // namespace mortise::core
