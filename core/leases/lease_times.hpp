// How long the two sides of a lease count, which have clocks of different rates.
#pragma once

#include <cstdint>

#include "core/base/instant.hpp"

namespace mortise::core {

// ttl*(1+rho), rounded up: what a voter waits.
[[nodiscard]] Nanoseconds cluster_patience(std::uint32_t ttl_ms, std::uint32_t rho_ppm);
// ttl*(1-rho) less a margin, rounded down: the time that a holder trusts its lease. The margin
// covers the time between a reading of the clock and the action that depends on it.
[[nodiscard]] Nanoseconds holder_trust(std::uint32_t ttl_ms, std::uint32_t rho_ppm);

}  // namespace mortise::core
