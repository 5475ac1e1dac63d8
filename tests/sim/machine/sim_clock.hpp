// The two clocks of one node: what they show at a true time, and when they will show a given time.
// A rate is a deviation in parts per million; for a frozen clock it cancels all of the time; a
// suspended machine's steady clock stands still.
#pragma once

#include "core/base/instant.hpp"
#include "tests/sim/base/event_heap.hpp"

namespace mortise::sim {

class SimClock {
public:
    SimClock(std::int64_t steady_ns, std::int64_t boot_ns, SimTime now = 0)
        : since_{now}, steady_{steady_ns}, boot_{boot_ns} {}

    [[nodiscard]] core::Now at(SimTime now) const;
    // The first true time at which the steady clock has reached `deadline`; never while suspended.
    [[nodiscard]] SimTime when(core::Instant deadline, SimTime now) const;

    static constexpr std::int64_t frozen_ppm = -1'000'000;

    void set_rate(SimTime now, std::int64_t ppm);
    void jump(SimTime now, core::Nanoseconds forward);
    void suspend(SimTime now);
    void wake(SimTime now);

    [[nodiscard]] std::int64_t rate_ppm() const { return rate_ppm_; }

private:
    void rebase(SimTime now);
    [[nodiscard]] core::Nanoseconds shown(SimTime elapsed) const;

    SimTime since_;  // the true time at which the clocks showed the values below
    core::Instant steady_;
    core::Instant boot_;
    std::int64_t rate_ppm_ = 0;
    bool suspended_ = false;
};

}  // namespace mortise::sim
