#include "tests/sim/machine/sim_clock.hpp"

namespace mortise::sim {

namespace {

__extension__ using Wide = __int128;
constexpr std::int64_t million = 1'000'000;

}  // namespace

core::Nanoseconds SimClock::shown(SimTime elapsed) const {
    const auto wide = static_cast<Wide>(elapsed) * (million + rate_ppm_) / million;
    return core::Nanoseconds{static_cast<std::int64_t>(wide)};
}

core::Now SimClock::at(SimTime now) const {
    const auto passed = shown(now - since_);
    return {suspended_ ? steady_ : steady_ + passed, boot_ + passed};
}

SimTime SimClock::when(core::Instant deadline, SimTime now) const {
    if (suspended_ || deadline == core::Instant::never()) return sim_never;
    const auto steady = at(now).steady;
    if (deadline <= steady) return now;
    if (rate_ppm_ == frozen_ppm) return sim_never;
    const auto wide = static_cast<Wide>((deadline - steady).count()) * million;
    // Rounded up, plus one because the clock rounds down.
    const auto wait = wide / (million + rate_ppm_) + 2;
    return wait >= sim_never - now ? sim_never : now + static_cast<SimTime>(wait);
}

void SimClock::rebase(SimTime now) {
    const auto shows = at(now);
    steady_ = shows.steady;
    boot_ = shows.boot;
    since_ = now;
}

void SimClock::set_rate(SimTime now, std::int64_t ppm) {
    rebase(now);
    rate_ppm_ = ppm;
}

void SimClock::jump(SimTime now, core::Nanoseconds forward) {
    rebase(now);
    steady_ = steady_ + forward;
    boot_ = boot_ + forward;
}

void SimClock::suspend(SimTime now) {
    rebase(now);
    suspended_ = true;
}

void SimClock::wake(SimTime now) {
    rebase(now);
    suspended_ = false;
}

}  // namespace mortise::sim
