#include "core/leases/lease_times.hpp"

#include <algorithm>
#include <chrono>

namespace mortise::core {

namespace {

constexpr std::int64_t million = 1'000'000;
constexpr Nanoseconds margin_min = std::chrono::milliseconds{50};

// A whole number: the time has milliseconds, and the result nanoseconds.
Nanoseconds drift(Nanoseconds time, std::uint32_t rho_ppm) {
    return time / million * rho_ppm;
}

}  // namespace

Nanoseconds cluster_patience(std::uint32_t ttl_ms, std::uint32_t rho_ppm) {
    const Nanoseconds ttl = std::chrono::milliseconds{ttl_ms};
    return ttl + drift(ttl, rho_ppm);
}

Nanoseconds holder_trust(std::uint32_t ttl_ms, std::uint32_t rho_ppm) {
    const Nanoseconds ttl = std::chrono::milliseconds{ttl_ms};
    const auto margin = std::max(margin_min, ttl / 100);
    return std::max(Nanoseconds{0}, ttl - drift(ttl, rho_ppm) - margin);
}

}  // namespace mortise::core
