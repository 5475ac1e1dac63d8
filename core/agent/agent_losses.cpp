// Holds that end without being released: by their time, by a break, with the lease.
#include <algorithm>
#include <chrono>
#include <utility>

#include "core/agent/session_agent.hpp"

namespace mortise::core {

namespace {

// For code of the program's that is in the way: much longer than a thread takes to begin, and much
// shorter than a session to expire.
constexpr Nanoseconds telling_max = std::chrono::milliseconds{100};

// Not set: it grants nothing.
OperationId granted_by(const CallAnswer& answer) {
    const auto* acquired = std::get_if<Acquired>(&answer.result);
    return acquired != nullptr ? acquired->hold : OperationId{};
}

}  // namespace

// Null when it is none of this session's, or not any more.
Held* SessionAgent::find_hold(OperationId hold) {
    return session_.id() == hold.session ? holds_.find(hold.seq) : nullptr;
}

void SessionAgent::lose(Seq operation, HoldLost::Reason why, Held held) {
    drop_upgrade(held, CallError::lock_lost);
    out_.lost.push_back({{*session_.id(), operation}, why});
    end_when_told(operation, {}, std::move(held.names));
}

void SessionAgent::end_when_told(Seq operation, CallTag tag, Names names) {
    ++endings_open_;
    ending_names_ += names.size();
    parked_.shut(names);
    untold_.add(operation, {tag, std::move(names), now_.steady + telling_max});
}

void SessionAgent::on_told(OperationId hold) {
    if (session_.id() == hold.session) end_untold(hold.seq);
}

// Nothing when it was done before.
void SessionAgent::end_untold(Seq operation) {
    auto loss = untold_.take(operation);
    if (!loss) return;
    endings_.push_back({Release{operation, true}, loss->tag, {}, loss->names.size()});
    std::vector<CallTag> freed;
    parked_.reopen(loss->names, freed);
    go_on_with(freed);
}

void SessionAgent::end_overdue_untold() {
    for (auto hold = untold_.overdue(now_.steady); hold.is_set();
         hold = untold_.overdue(now_.steady)) {
        ++released_untold_;
        end_untold(hold);
    }
}

// With the session, that is.
void SessionAgent::forget_untold() {
    std::vector<CallTag> freed;
    for (const auto hold : untold_.all())
        parked_.reopen(untold_.take(hold)->names, freed);
    go_on_with(freed);
}

// Its owner has had it since before the cluster began to count, and by a clock that counts suspend
// (S5): it is lost here before anybody else can have it there. The cluster is told that it is.
void SessionAgent::end_holds_that_are_over() {
    for (auto hold = holds_.over(now_.boot); hold.is_set(); hold = holds_.over(now_.boot)) {
        lose(hold, HoldLost::Reason::over, *holds_.take(hold));
        end_confirms(CallError::lock_lost);
    }
}

// Its owner is told that it is lost, and then the cluster that its owner was told (S24). What is
// given back already needs no more than that. Of several names the others are lost with it (S23).
void SessionAgent::lose_broken(Seq operation) {
    auto held = holds_.take(operation);
    if (!held) return give_up_broken(operation);
    if (withdraw_grant(operation)) {
        drop_upgrade(*held, CallError::lock_lost);
        return end({Release{operation, false}, {}, {}, held->names.size()});
    }
    lose(operation, HoldLost::Reason::broken, std::move(*held));
    end_confirms(CallError::lock_lost);
}

// Granted and broken while nothing was told here: the answer that is to come would be believed.
void SessionAgent::give_up_broken(Seq operation) {
    const auto* sent = window_.find(operation);
    const auto tag = sent != nullptr ? sent->tag : calls_.queued_as(operation);
    if (calls_.contains(tag)) abandon(tag, CallError::lock_lost);
}

// --- within one step ----------------------------------------------------------------------------

// It was granted and broken within one step: nobody has heard of it yet.
bool SessionAgent::withdraw_grant(Seq operation) {
    const auto granted =
        std::ranges::find(out_.answers, OperationId{*session_.id(), operation}, granted_by);
    if (granted == out_.answers.end()) return false;
    out_.withdrawn.push_back(granted_by(*granted));
    granted->result = CallError::lock_lost;
    return true;
}

// Whoever was told of the loss first and of the grant afterwards would believe the grant.
void SessionAgent::withdraw_grants() {
    for (auto& answer : out_.answers) {
        const auto hold = granted_by(answer);
        if (!holds_.take(hold.seq)) continue;
        out_.withdrawn.push_back(hold);
        answer.result = CallError::session_expired;
    }
}

}  // namespace mortise::core
