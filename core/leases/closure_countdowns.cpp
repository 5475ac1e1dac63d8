#include "core/leases/closure_countdowns.hpp"

#include <algorithm>
#include <chrono>

#include "core/base/check.hpp"

namespace mortise::core {

namespace {

// A node that restarts counts less than this time twice.
constexpr Nanoseconds save_period_min{std::chrono::milliseconds{250}};

}  // namespace

Nanoseconds ClosureCountdowns::Running::save_period() const {
    return std::max((ends - started) / 8, save_period_min);
}

void ClosureCountdowns::start(ClosureId closure, Nanoseconds patience, Nanoseconds elapsed,
                              Instant now) {
    const auto started = now - elapsed;
    const auto ends = started + patience;
    const auto [running, is_new] = running_.try_emplace(closure, Running{started, ends});
    MORTISE_CHECK(is_new);
    save_at_ = std::min(save_at_, now + running->second.save_period());
    by_end_.emplace(ends, closure);
}

void ClosureCountdowns::stop(ClosureId closure) {
    const auto found = running_.find(closure);
    if (found == running_.end()) return;
    by_end_.erase({found->second.ends, closure});
    run_out_.erase(closure);
    running_.erase(found);
}

std::optional<Nanoseconds> ClosureCountdowns::left(ClosureId closure, Instant now) const {
    const auto found = running_.find(closure);
    if (found == running_.end()) return std::nullopt;
    return std::max(found->second.ends - now, Nanoseconds{0});
}

void ClosureCountdowns::advance(Instant now) {
    while (!by_end_.empty() && by_end_.begin()->first <= now) {
        run_out_.insert(by_end_.begin()->second);
        by_end_.erase(by_end_.begin());
    }
}

Instant ClosureCountdowns::deadline() const {
    const auto next = by_end_.empty() ? Instant::never() : by_end_.begin()->first;
    return std::min(next, save_at_);
}

void ClosureCountdowns::saved(Instant now) {
    save_at_ = Instant::never();
    for (const auto& [closure, running] : running_)
        save_at_ = std::min(save_at_, now + running.save_period());
}

std::vector<SavedCountdown> ClosureCountdowns::save(Instant now) const {
    std::vector<SavedCountdown> all;
    all.reserve(running_.size());
    for (const auto& [closure, running] : running_)
        all.push_back({{}, {}, now - running.started, closure});
    return all;
}

}  // namespace mortise::core
