#pragma once

#include <chrono>

#include "core/base/instant.hpp"

namespace mortise::transport {

inline core::Instant steady_now() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return {std::chrono::duration_cast<core::Nanoseconds>(now).count()};
}

inline std::chrono::steady_clock::time_point time_point_of(core::Instant at) {
    return std::chrono::steady_clock::time_point{core::Nanoseconds{at.ns}};
}

}  // namespace mortise::transport
