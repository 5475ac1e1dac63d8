#include "core/node/membership_calls.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"

namespace mortise::core {

using State = MembershipReply::State;

void MembershipCalls::add(ChangeCall call, Instant now) {
    Pending pending{std::move(call), now};
    pending.configuration = pending.call.seen;
    pending_.push_back(std::move(pending));
}

std::optional<MembershipRequest> MembershipCalls::take_due(NodeId leader, Instant now) {
    const auto due = std::ranges::find_if(
        pending_, [&](const Pending& pending) { return !pending.result && pending.ask_at <= now; });
    if (due == pending_.end()) return std::nullopt;
    give_up_request(*due);
    due->id = ChangeId{(epoch_.raw() << 40U) + ++asked_};
    due->asked = leader;
    due->is_open = true;
    due->ask_at = now + pacing_.give_up;
    return MembershipRequest{due->id, due->call.goal, due->configuration, due->term, due->begun};
}

void MembershipCalls::give_up_request(Pending& pending) {
    if (pending.is_open && pending.configuration.is_set()) pending.uncertain = true;
    pending.is_open = false;
}

void MembershipCalls::replied(NodeId from, const MembershipReply& reply, Instant now) {
    const auto found = std::ranges::find(pending_, reply.id, &Pending::id);
    if (found == pending_.end() || !found->is_open || found->asked != from) return;
    found->is_open = false;
    found->ask_at = now + pacing_.ask_again;
    found->begun = reply.state == State::begun;
    switch (reply.state) {
        case State::looked:
            found->configuration = reply.configuration;
            found->term = reply.term;
            found->ask_at = now;
            break;
        case State::begun: found->why.reset(); break;
        case State::not_yet:
            found->why = reply.why;
            // Near the deadline the known reason is more useful than another request, which would
            // get no reply in time.
            if (found->ask_at + pacing_.ask_again > found->call.deadline)
                found->ask_at = Instant::never();
            break;
        case State::refused: found->result = reply.why; break;
        case State::done: found->result = Changed{}; break;
    }
}

void MembershipCalls::ask_all_again(Instant now) {
    for (auto& pending : pending_) {
        give_up_request(pending);
        pending.ask_at = now;
    }
}

// A removed node learns that its removal is done, and cannot ask any more.
bool MembershipCalls::is_done(const Pending& pending, const View& view) {
    if (!pending.configuration.is_set()) return false;
    const auto& goal = pending.call.goal;
    if (goal.kind == MembershipGoal::Kind::leader) {
        return view.leader == goal.member && view.term > pending.term;
    }
    return view.is_settled && view.index > pending.configuration &&
           is_reached(goal, view.configuration);
}

bool MembershipCalls::may_have_begun(const Pending& pending) {
    const bool asked = pending.is_open && pending.configuration.is_set();
    return pending.begun || pending.uncertain || asked;
}

CallAnswer MembershipCalls::give_way() {
    MORTISE_CHECK(!pending_.empty());
    const auto oldest = std::move(pending_.front());
    pending_.erase(pending_.begin());
    return {oldest.call.tag, ended_by(oldest, CallError::resource_exhausted)};
}

// What is done, or may be, is not reported as refused (P6).
decltype(CallAnswer::result) MembershipCalls::ended_by(const Pending& pending, CallError error) {
    if (pending.result) return *pending.result;
    return may_have_begun(pending) ? CallError::outcome_unknown : error;
}

decltype(CallAnswer::result) MembershipCalls::overdue(const Pending& pending) {
    if (may_have_begun(pending)) return CallError::outcome_unknown;
    if (pending.why) return *pending.why;
    return CallError::no_quorum;
}

std::vector<CallAnswer> MembershipCalls::take_finished(const View& view, Instant now) {
    std::vector<CallAnswer> answers;
    std::erase_if(pending_, [&](Pending& pending) {
        if (!pending.result && is_done(pending, view)) pending.result = Changed{};
        if (!pending.result && now >= pending.call.deadline) pending.result = overdue(pending);
        if (!pending.result) return false;
        answers.push_back({pending.call.tag, std::move(*pending.result)});
        return true;
    });
    return answers;
}

std::vector<CallAnswer> MembershipCalls::end_all(CallError error) {
    std::vector<CallAnswer> answers;
    for (const auto& pending : std::exchange(pending_, {}))
        answers.push_back({pending.call.tag, ended_by(pending, error)});
    return answers;
}

Instant MembershipCalls::deadline(bool has_leader) const {
    auto next = Instant::never();
    for (const auto& pending : pending_) {
        next = std::min(next, pending.call.deadline);
        if (has_leader) next = std::min(next, pending.ask_at);
    }
    return next;
}

}  // namespace mortise::core
