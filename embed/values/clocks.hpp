// The clocks of this machine on which leases are based (S5). core and the driver read no clocks;
// the time is passed to them. Timeouts of calls and sockets use the steady clock directly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>

#include "core/base/instant.hpp"

namespace mortise::detail {

inline core::Instant read_clock(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return {std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec};
}

inline core::Instant steady_now() {
    return read_clock(CLOCK_MONOTONIC);
}
inline core::Instant boot_now() {
    return read_clock(CLOCK_BOOTTIME);
}
// For people only: a wall clock may be wrong, and leap.
inline std::uint64_t wall_ms_now() {
    return static_cast<std::uint64_t>(
        std::max<std::int64_t>(read_clock(CLOCK_REALTIME).ns / 1'000'000, 0));
}
inline core::Now read_clocks() {
    return {steady_now(), boot_now(), wall_ms_now()};
}

}  // namespace mortise::detail
