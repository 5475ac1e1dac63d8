#include "embed/runtime/waiting_calls.hpp"

#include <algorithm>
#include <utility>

#include <mortise/errc.hpp>

namespace mortise::detail {

namespace {

core::Instant deadline_of(const SubmittedCall& call) {
    if (const auto* acquire = call.get_if<core::AcquireCall>()) return acquire->deadline;
    if (const auto* upgrade = call.get_if<core::UpgradeCall>()) return upgrade->deadline;
    if (const auto* wait = call.get_if<core::AwaitCall>()) return wait->deadline;
    if (const auto* change = call.get_if<core::ChangeCall>()) return change->deadline;
    return core::Instant::never();
}

void answer(Submitted& submitted, Errc error) {
    if (auto* const block = submitted.call.block()) block->place.reset();
    if (submitted.completion) submitted.completion->complete({error, {}, {}});
}

}  // namespace

void WaitingCalls::add(SubmittedCalls calls, core::Instant now, core::Nanoseconds patience) {
    while (!calls.empty()) {
        auto& submitted = calls.front();
        if (const auto* cancelled = submitted.call.get_if<core::CancelCall>()) {
            cancel(cancelled->tag);
            calls.pop_front();
            continue;
        }
        submitted.gives_up = std::min(deadline_of(submitted.call), now + patience);
        waiting_.splice(waiting_.end(), calls, calls.begin());
    }
}

// The call never reached the cluster, so nothing has to be ended there.
void WaitingCalls::cancel(core::CallTag tag) {
    const auto found =
        std::ranges::find(waiting_, tag, [](const Submitted& one) { return one.call.tag(); });
    if (found == waiting_.end()) return;
    answer(*found, Errc::cancelled);
    waiting_.erase(found);
}

void WaitingCalls::give_up(core::Instant now) {
    std::erase_if(waiting_, [&](Submitted& submitted) {
        if (submitted.gives_up > now) return false;
        const bool releases = submitted.call.is<core::ReleaseCall>();
        answer(submitted, releases ? Errc::outcome_unknown : Errc::no_quorum);
        return true;
    });
}

core::Instant WaitingCalls::deadline() const {
    auto next = core::Instant::never();
    for (const auto& submitted : waiting_)
        next = std::min(next, submitted.gives_up);
    return next;
}

}  // namespace mortise::detail
