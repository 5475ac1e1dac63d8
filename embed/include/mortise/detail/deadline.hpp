// Not for use by programs.
#pragma once

#include <chrono>
#include <cstdint>
#include <type_traits>

#include <mortise/duration.hpp>

#include <mortise/detail/macros_aside.hpp>

namespace mortise::detail {

// The same moment on the steady clock, which measures waits. It does not change when the other
// clock is set later.
template <class Clock, class Unit>
std::chrono::steady_clock::time_point deadline_of(std::chrono::time_point<Clock, Unit> moment) {
    using Steady = std::chrono::steady_clock;
    const Duration at{moment.time_since_epoch()};
    if constexpr (std::is_same_v<Clock, Steady>) {
        return Steady::time_point{at.to_nanoseconds()};
    } else {
        if (!at.is_set()) return Steady::time_point::max();
        const Duration now{Clock::now().time_since_epoch()};
        std::int64_t left = 0;
        if (__builtin_sub_overflow(at.to_nanoseconds().count(), now.to_nanoseconds().count(),
                                   &left)) {
            return at > now ? Steady::time_point::max() : Steady::time_point::min();
        }
        return Steady::now() + Duration{std::chrono::nanoseconds{left}};
    }
}

}  // namespace mortise::detail

#include <mortise/detail/macros_back.hpp>
