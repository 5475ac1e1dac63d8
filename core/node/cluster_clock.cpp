#include "core/node/cluster_clock.hpp"

#include <algorithm>
#include <chrono>

#include "core/locks/machine/lock_machine.hpp"

namespace mortise::core {

ClusterClock::ClusterClock(const LockMachine& machine, LogIndex log_end, Now now)
    : machine_{machine}, old_to_{log_end}, ms_{now.wall_ms}, at_{now.boot} {
    state_replaced(now);
}

void ClusterClock::applied(Now now) {
    if (marks().is_empty() || marks().newest().index == seen_) return;
    if (marks().newest().index <= old_to_) return state_replaced(now);
    seen_ = marks().newest().index;
    set(marks().newest().ms, now);
}

void ClusterClock::state_replaced(Now now) {
    if (marks().is_empty()) return;
    seen_ = marks().newest().index;
    set(present(now), now);
}

void ClusterClock::set(std::uint64_t ms, Now now) {
    ms_ = ms;
    at_ = now.boot;
}

const ClockMarks& ClusterClock::marks() const {
    return machine_.clock();
}

std::uint64_t ClusterClock::reckoned(Now now) const {
    const auto passed = std::max(now.boot - at_, Nanoseconds{0});
    return ms_ + static_cast<std::uint64_t>(passed / std::chrono::milliseconds{1});
}

std::uint64_t ClusterClock::present(Now now) const {
    return std::max(reckoned(now), marks().newest().ms);
}

std::optional<Nanoseconds> ClusterClock::age_of(LogIndex index, Now now) const {
    const auto time = marks().time_of(index);
    if (!time) return std::nullopt;
    constexpr auto ms_max =
        static_cast<std::uint64_t>(Nanoseconds::max() / std::chrono::milliseconds{1});
    const auto ms = std::min(present(now) - *time, ms_max);
    return std::chrono::milliseconds{static_cast<std::int64_t>(ms)};
}

std::uint64_t ClusterClock::to_propose(Now now) const {
    if (marks().is_empty()) return ms_ == 0 ? now.wall_ms : reckoned(now);
    const auto time = std::min(present(now), clock_ms_max);
    return time < marks().newest().ms + clock_step_ms_min ? 0 : time;
}

}  // namespace mortise::core
