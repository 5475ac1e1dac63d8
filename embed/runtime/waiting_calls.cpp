#include "embed/runtime/waiting_calls.hpp"

#include <algorithm>
#include <utility>

#include <mortise/errc.hpp>

namespace mortise::detail {

namespace {

core::Instant deadline_of(const Submitted& call) {
    if (const auto* acquire = call.get_if<core::AcquireCall>()) return acquire->deadline;
    if (const auto* upgrade = call.get_if<core::UpgradeCall>()) return upgrade->deadline;
    if (const auto* wait = call.get_if<core::AwaitCall>()) return wait->deadline;
    if (const auto* change = call.get_if<core::ChangeCall>()) return change->deadline;
    return core::Instant::never();
}

void answer(Submitted& call, Errc error) {
    if (auto* const its = call.as_call()) its->place.reset();
    call.answer({error, {}, {}});
}

}  // namespace

void WaitingCalls::add(SubmittedCalls calls, core::Instant now, core::Nanoseconds patience) {
    while (!calls.empty()) {
        auto call = calls.pop_front();
        if (call->is<core::CancelCall>()) {
            cancel(call->tag());
            continue;
        }
        call->give_up_at(std::min(deadline_of(*call), now + patience));
        waiting_.push_back(std::move(call));
    }
}

// The call never reached the cluster, so nothing has to be ended there.
void WaitingCalls::cancel(core::CallTag tag) {
    const auto its = waiting_.take_if([&](const Submitted& one) { return one.tag() == tag; });
    for (auto& call : its)
        answer(call, Errc::cancelled);
}

void WaitingCalls::give_up(core::Instant now) {
    const auto due = waiting_.take_if([&](const Submitted& one) { return one.gives_up() <= now; });
    for (auto& call : due)
        answer(call, call.is<core::ReleaseCall>() ? Errc::outcome_unknown : Errc::no_quorum);
}

core::Instant WaitingCalls::deadline() const {
    auto next = core::Instant::never();
    for (const auto& call : waiting_)
        next = std::min(next, call.gives_up());
    return next;
}

}  // namespace mortise::detail
