// Times that a request may say of the hold that it gets (S8, S9).
#pragma once

#include <chrono>

#include "core/locks/limits.hpp"
#include <mortise/duration.hpp>

namespace mortise::detail {

// Unset, or not too long for the cluster to count.
[[nodiscard]] inline bool is_term(Duration term) {
    const Duration longest = std::chrono::milliseconds{core::term_ms_max};
    return !term.is_set() || (term >= Duration::zero() && term <= longest);
}

// Likewise, and more than nothing.
[[nodiscard]] inline bool is_limit(Duration term) {
    return is_term(term) && term > Duration::zero();
}

}  // namespace mortise::detail
