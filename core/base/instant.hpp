// A point in time, passed in by the caller. Core has no clock: it only calculates with its input,
// so that a simulated year and a real second run the same code.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>

namespace mortise::core {

using Nanoseconds = std::chrono::nanoseconds;

struct Instant {
    std::int64_t ns = 0;

    static constexpr Instant never() { return {std::numeric_limits<std::int64_t>::max()}; }

    friend constexpr bool operator==(Instant, Instant) = default;
    friend constexpr auto operator<=>(Instant, Instant) = default;

    // Saturates: adding to a far deadline must not wrap into the past.
    friend constexpr Instant operator+(Instant a, Nanoseconds d) {
        std::int64_t sum = 0;
        if (__builtin_add_overflow(a.ns, d.count(), &sum)) {
            return d.count() > 0 ? never() : Instant{std::numeric_limits<std::int64_t>::min()};
        }
        return {sum};
    }
    friend constexpr Instant operator-(Instant a, Nanoseconds d) {
        // The lowest duration has no negation; nothing subtracts it.
        return a + Nanoseconds{-d.count()};
    }
    friend constexpr Nanoseconds operator-(Instant a, Instant b) {
        std::int64_t difference = 0;
        if (__builtin_sub_overflow(a.ns, b.ns, &difference)) {
            return a > b ? Nanoseconds::max() : Nanoseconds::min();
        }
        return Nanoseconds{difference};
    }
};

// The clocks of a node, read together when an event arrives. `steady` (CLOCK_MONOTONIC) may
// stand still while the machine is suspended, `boot` (CLOCK_BOOTTIME) does not. Countdowns of other
// nodes' sessions use the former, the validity of our own holds the latter, so that every
// difference errs on the safe side (S5).
struct Now {
    Instant steady;
    Instant boot;
    // CLOCK_REALTIME in milliseconds since 1970; zero: unknown. It may be wrong and leap, and no
    // decision depends on it: see ClusterClock.
    std::uint64_t wall_ms{};
};

}  // namespace mortise::core
