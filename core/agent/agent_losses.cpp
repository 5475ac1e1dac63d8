// Holds that end without a release: by their max_hold, by a break or an eviction, with the lease,
// or by a close.
#include <algorithm>
#include <chrono>
#include <utility>

#include "core/agent/session_agent.hpp"

namespace mortise::core {

namespace {

// How long the cluster may remain uninformed of a loss while the program's callback runs. It is
// much longer than the start of a thread, and much shorter than the expiry of a session.
constexpr Nanoseconds telling_max = std::chrono::milliseconds{100};

// Not set if the answer grants nothing.
OperationId granted_by(const CallAnswer& answer) {
    const auto* acquired = std::get_if<Acquired>(&answer.result);
    return acquired != nullptr ? acquired->hold : OperationId{};
}

}  // namespace

// Null if this session does not have the hold, or no longer has it.
Held* SessionAgent::find_hold(OperationId hold) {
    return session_.id() == hold.session ? holds_.find(hold.seq) : nullptr;
}

void SessionAgent::lose(Seq operation, HoldLost::Reason why, const Held& held) {
    drop_upgrade(held, CallError::lock_lost);
    out_.lost.push_back({{*session_.id(), operation}, why});
    end_when_notified(operation, {}, held.names());
}

void SessionAgent::end_when_notified(Seq operation, CallTag tag, Names names) {
    ++endings_open_;
    ending_names_ += names.size();
    parked_.shut(names);
    pending_losses_.add(operation, {tag, std::move(names), now_.steady + telling_max});
}

// The end of the session releases it. It shuts no names: nothing is asked for any more.
void SessionAgent::close_when_notified(OperationId hold) {
    if (find_hold(hold) == nullptr) return;  // it was lost or released before
    ++endings_open_;
    pending_losses_.add(hold.seq, {{}, {}, now_.steady + telling_max, true});
}

void SessionAgent::on_notified(OperationId hold) {
    if (session_.id() == hold.session) end_pending_loss(hold.seq);
}

// Does nothing if it was done before.
void SessionAgent::end_pending_loss(Seq operation) {
    auto loss = pending_losses_.take(operation);
    if (!loss) return;
    if (loss->ends_with_session) {
        --endings_open_;
        return;
    }
    endings_.push_back({Release{operation, true}, loss->tag, {}, loss->names.size()});
    std::vector<CallTag> freed;
    parked_.reopen(loss->names, freed);
    go_on_with(freed);
}

void SessionAgent::end_overdue_losses() {
    for (auto hold = pending_losses_.overdue(now_.steady); hold.is_set();
         hold = pending_losses_.overdue(now_.steady)) {
        ++released_unnotified_;
        end_pending_loss(hold);
    }
}

// The session has ended, and the losses with it.
void SessionAgent::forget_pending_losses() {
    std::vector<CallTag> freed;
    for (const auto hold : pending_losses_.all())
        parked_.reopen(pending_losses_.take(hold)->names, freed);
    go_on_with(freed);
}

// The max_hold began for the owner before it began for the cluster, and on a clock that includes
// suspend (S5). So the hold is lost here before another session can be granted the name. The
// cluster is informed of the loss.
void SessionAgent::end_holds_that_are_over() {
    for (auto hold = holds_.over(now_.boot); hold.is_set(); hold = holds_.over(now_.boot)) {
        lose(hold, HoldLost::Reason::over, *holds_.take(hold));
        end_confirms(CallError::lock_lost);
    }
}

// The owner is notified first, then the cluster is informed of that (S24). A hold that is being
// released already needs neither. If the hold has several names, all of them are lost (S23).
void SessionAgent::lose_broken(Seq operation) {
    const auto held = holds_.take(operation);
    if (!held) return give_up_broken(operation);
    lose_taken(operation, *held, CallError::lock_lost);
    end_confirms(CallError::lock_lost);
}

void SessionAgent::lose_taken(Seq operation, const Held& held, CallError of_grant) {
    if (withdraw_grant(operation, of_grant)) {
        drop_upgrade(held, CallError::lock_lost);
        return end({Release{operation, false}, {}, {}, held.size()});
    }
    lose(operation, HoldLost::Reason::broken, held);
}

// The cluster refuses all further renewals of this session, and waits until its lease has ended
// (S24). It need not wait so long: as with a break the owners are notified, and the cluster is told
// of the losses. Then this session is closed, and another one takes its place.
void SessionAgent::on_evicted() {
    if (leaves_session()) return;
    is_evicted_ = true;
    session_.evicted();
    for (const auto operation : holds_.all())
        lose_taken(operation, *holds_.take(operation), CallError::session_expired);
    end_confirms(CallError::lock_lost);
}

// The request was granted and broken while this node received nothing. The grant that is still to
// be delivered would be taken for a valid one, so the call is abandoned.
void SessionAgent::give_up_broken(Seq operation) {
    const auto* sent = window_.find(operation);
    const auto tag = sent != nullptr ? sent->tag : calls_.queued_as(operation);
    if (calls_.contains(tag)) abandon(tag, CallError::lock_lost);
}

// --- within one step ----------------------------------------------------------------------------

// The hold was granted and taken away within one step, so the program has not learned of the grant.
bool SessionAgent::withdraw_grant(Seq operation, CallError error) {
    const auto granted =
        std::ranges::find(out_.answers, OperationId{*session_.id(), operation}, granted_by);
    if (granted == out_.answers.end()) return false;
    out_.withdrawn.push_back(granted_by(*granted));
    granted->result = error;
    return true;
}

// If the program got the loss first and the grant afterwards, it would rely on the grant.
void SessionAgent::withdraw_grants() {
    for (auto& answer : out_.answers) {
        const auto hold = granted_by(answer);
        if (!holds_.take(hold.seq)) continue;
        out_.withdrawn.push_back(hold);
        answer.result = CallError::session_expired;
    }
}

}  // namespace mortise::core
