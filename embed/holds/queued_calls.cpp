#include "embed/holds/queued_calls.hpp"

#include <utility>
#include <variant>

namespace mortise::detail {

void QueuedCalls::add(SubmittedCalls& call) {
    const auto tag = call.front().call.tag();
    Entry entry{{}, prepared(core::CancelCall{tag})};
    const auto added = calls_.emplace(tag, std::move(entry)).first;
    added->second.call.swap(call);
}

SubmittedCalls QueuedCalls::leave(core::CallTag call) noexcept {
    const auto found = calls_.find(call);
    return found == calls_.end() ? SubmittedCalls{} : std::exchange(found->second.call, {});
}

SubmittedCalls QueuedCalls::leave(const core::LockCache::Asking& asking) noexcept {
    SubmittedCalls all;
    for (const auto& caller : asking.callers) {
        auto one = leave(caller.call);
        if (one.empty()) continue;
        if (auto* const acquire = one.front().call.get_if<core::AcquireCall>())
            acquire->request.cached_tokens = asking.tokens;
        all.splice(all.end(), one);
    }
    return all;
}

SubmittedCalls QueuedCalls::forget(core::CallTag call) noexcept {
    const auto gone = calls_.extract(call);
    if (gone.empty() || !gone.mapped().is_cancelled) return {};
    return std::move(gone.mapped().cancellation);
}

void QueuedCalls::cancel(core::CallTag call) noexcept {
    const auto found = calls_.find(call);
    if (found != calls_.end()) found->second.is_cancelled = true;
}

SubmittedCalls QueuedCalls::leave_all() noexcept {
    SubmittedCalls all;
    for (auto& [tag, entry] : calls_)
        all.splice(all.end(), entry.call);
    return all;
}

}  // namespace mortise::detail
