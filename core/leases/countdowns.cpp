#include "core/leases/countdowns.hpp"

#include <algorithm>
#include <chrono>

#include "core/base/check.hpp"
#include "core/leases/lease_times.hpp"

namespace mortise::core {

namespace {

constexpr Nanoseconds timer_save_min = std::chrono::milliseconds{250};

}  // namespace

CountdownTimes lease_times(const OpenSession& opened) {
    const Nanoseconds ttl = std::chrono::milliseconds{opened.ttl_ms};
    return {cluster_patience(opened.ttl_ms, opened.rho_ppm), ttl / 8};
}

CountdownTimes closure_times(std::uint32_t time_ms, std::uint32_t rho_ppm) {
    const auto patience = cluster_patience(time_ms, rho_ppm);
    return {patience, std::max(patience / 8, timer_save_min)};
}

template <typename Timer>
void Countdowns<Timer>::start(const Timer& timer, const CountdownTimes& times, Nanoseconds elapsed,
                              Instant now) {
    const auto started = now - elapsed;
    const auto ends = started + times.patience;
    const auto added =
        running_.try_emplace(id_of(timer), Running{timer, started, ends, times.save_period});
    MORTISE_CHECK(added.second);
    by_end_.emplace(ends, id_of(timer));
    save_at_ = std::min(save_at_, now + times.save_period);
}

template <typename Timer>
void Countdowns<Timer>::stop(Id id) {
    const auto found = running_.find(id);
    if (found == running_.end()) return;
    by_end_.erase({found->second.ends, id});
    run_out_.erase(found->second.timer);
    running_.erase(found);
}

template <typename Timer>
auto Countdowns<Timer>::find(const Timer& timer) const -> const Running* {
    const auto found = running_.find(id_of(timer));
    return found != running_.end() && found->second.timer == timer ? &found->second : nullptr;
}

template <typename Timer>
Nanoseconds Countdowns<Timer>::elapsed(const Timer& timer, Instant now) const {
    const auto* running = find(timer);
    return running != nullptr ? now - running->started : Nanoseconds{};
}

template <typename Timer>
std::optional<Nanoseconds> Countdowns<Timer>::left(const Timer& timer, Instant now) const {
    const auto* running = find(timer);
    if (running == nullptr) return std::nullopt;
    return std::max(running->ends - now, Nanoseconds{0});
}

template <typename Timer>
void Countdowns<Timer>::advance(Instant now) {
    while (!by_end_.empty() && by_end_.begin()->first <= now) {
        run_out_.insert(running_.at(by_end_.begin()->second).timer);
        by_end_.erase(by_end_.begin());
    }
}

template <typename Timer>
Instant Countdowns<Timer>::deadline() const {
    const auto next = by_end_.empty() ? Instant::never() : by_end_.begin()->first;
    return std::min(next, save_at_);
}

template <typename Timer>
std::vector<SavedCountdown<Timer>> Countdowns<Timer>::save(Instant now) const {
    std::vector<SavedCountdown<Timer>> all;
    all.reserve(running_.size());
    for (const auto& [id, running] : running_)
        all.push_back({running.timer, now - running.started});
    return all;
}

template <typename Timer>
void Countdowns<Timer>::saved(Instant now) {
    save_at_ = Instant::never();
    for (const auto& [id, running] : running_)
        save_at_ = std::min(save_at_, now + running.save_period);
}

template class Countdowns<RenewedLease>;
template class Countdowns<ClosureId>;

}  // namespace mortise::core
