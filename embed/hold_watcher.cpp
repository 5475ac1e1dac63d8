#include "embed/hold_watcher.hpp"

#include <algorithm>
#include <utility>

namespace mortise::detail {

namespace {

// Different reasons that an owner has not been told of.
constexpr std::size_t contentions_max = 16;

}  // namespace

void HoldWatcher::tell_at_risk(core::Instant until, core::Instant boot) {
    if (!wishes_.on_at_risk || risk_told_.exchange(until.ns) == until.ns) return;
    wishes_.on_at_risk(std::max(until - boot, core::Nanoseconds{0}));
}

void HoldWatcher::tell_suspended(core::Instant until) {
    if (!wishes_.on_suspended || suspension_told_.exchange(until.ns) == until.ns) return;
    wishes_.on_suspended();
}

bool HoldWatcher::add(Contention contention) {
    return contentions_.with([&](auto& waiting) {
        const bool is_first = waiting.empty();
        std::erase_if(waiting, [&](const auto& one) { return one.reason == contention.reason; });
        if (waiting.size() == contentions_max) waiting.erase(waiting.begin());
        waiting.push_back(std::move(contention));
        return is_first;
    });
}

void HoldWatcher::tell_contentions() {
    const auto told = contentions_.with([](auto& waiting) { return std::exchange(waiting, {}); });
    for (const auto& one : told)
        wishes_.on_contended(one.mode, one.waiters, one.reason);
}

}  // namespace mortise::detail
