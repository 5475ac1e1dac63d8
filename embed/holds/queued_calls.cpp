#include "embed/holds/queued_calls.hpp"

#include <utility>
#include <variant>

namespace mortise::detail {

void QueuedCalls::add(std::shared_ptr<Submitted>& acquire) {
    const auto tag = acquire->tag();
    Entry entry{nullptr, prepared(core::CancelCall{tag})};
    calls_.emplace(tag, std::move(entry)).first->second.call = std::move(acquire);
}

std::shared_ptr<Submitted> QueuedCalls::leave(core::CallTag call) noexcept {
    const auto found = calls_.find(call);
    return found == calls_.end() ? nullptr : std::move(found->second.call);
}

SubmittedCalls QueuedCalls::leave(const core::LockCache::Asking& asking) noexcept {
    SubmittedCalls all;
    for (const auto& caller : asking.callers) {
        auto one = leave(caller.call);
        if (!one) continue;
        one->get<core::AcquireCall>().request.cached_tokens = asking.tokens;
        all.push_back(std::move(one));
    }
    return all;
}

std::shared_ptr<Submitted> QueuedCalls::forget(core::CallTag call) noexcept {
    const auto gone = calls_.extract(call);
    if (gone.empty() || !gone.mapped().is_cancelled) return nullptr;
    return std::move(gone.mapped().cancellation);
}

void QueuedCalls::cancel(core::CallTag call) noexcept {
    const auto found = calls_.find(call);
    if (found != calls_.end()) found->second.is_cancelled = true;
}

SubmittedCalls QueuedCalls::leave_all() noexcept {
    SubmittedCalls all;
    for (auto& [tag, entry] : calls_) {
        if (entry.call) all.push_back(std::move(entry.call));
    }
    return all;
}

}  // namespace mortise::detail
