// The time limits of a hold that a request may have (S8, S9).
#pragma once

#include <chrono>

#include "core/locks/limits.hpp"
#include <mortise/duration.hpp>

namespace mortise::detail {

// True if it is unset, or short enough for the cluster to count.
[[nodiscard]] inline bool is_term(Duration term) {
    const Duration longest = std::chrono::milliseconds{core::term_ms_max};
    return !term.is_set() || (term >= Duration::zero() && term <= longest);
}

// The same, and more than zero.
[[nodiscard]] inline bool is_limit(Duration term) {
    return is_term(term) && term > Duration::zero();
}

// The same, and set.
[[nodiscard]] inline bool is_interval(Duration time) {
    return time.is_set() && is_limit(time);
}

}  // namespace mortise::detail
