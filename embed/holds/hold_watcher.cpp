#include "embed/holds/hold_watcher.hpp"

#include <algorithm>
#include <utility>

namespace mortise::detail {

namespace {

// The number of different reasons that are kept for an owner until it is notified.
constexpr std::size_t contentions_max = 16;

}  // namespace

HoldWatcher* HoldWatcher::make(HoldWishes wishes) {
    const std::shared_ptr<HoldWatcher> its{new HoldWatcher{std::move(wishes)}};
    its->self_ = its;
    return its.get();
}

void HoldWatcher::notify_at_risk(core::Instant until, core::Instant boot) {
    if (!wishes_.on_at_risk || risk_notified_.exchange(until.ns) == until.ns) return;
    wishes_.on_at_risk(std::max(until - boot, core::Nanoseconds{0}));
}

void HoldWatcher::notify_suspended(core::Instant until) {
    if (!wishes_.on_suspended || suspension_notified_.exchange(until.ns) == until.ns) return;
    wishes_.on_suspended();
}

bool HoldWatcher::add(Contention contention) {
    return pending_.with([&](Pending& pending) {
        auto& waiting = pending.contentions;
        std::erase_if(waiting, [&](const auto& one) { return one.reason == contention.reason; });
        if (waiting.size() == contentions_max) waiting.erase(waiting.begin());
        waiting.push_back(std::move(contention));
        return !std::exchange(pending.is_notifying, true);
    });
}

void HoldWatcher::notify_contentions() {
    while (true) {
        const auto told = pending_.with([](Pending& pending) {
            pending.is_notifying = !pending.contentions.empty();
            return std::exchange(pending.contentions, {});
        });
        if (told.empty()) return;
        for (const auto& one : told)
            tell(one);
    }
}

// Exceptions are dropped: the next notification must be delivered.
void HoldWatcher::tell(const Contention& one) const noexcept {
    try {
        wishes_.on_contended(one.mode, one.waiters, one.reason);
    } catch (...) {
        return;
    }
}

}  // namespace mortise::detail
