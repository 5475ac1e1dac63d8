// Out of calls that cannot be explained, those that a person has to look at.
#pragma once

#include <limits>

#include "tests/check/call.hpp"

namespace mortise::check {

// Requires that the calls, all of one name, cannot be explained. None of what is left can be left
// out as well; everything about a hold is in or out together.
[[nodiscard]] Calls smallest_window(
    const Calls& calls, std::size_t states_max = std::numeric_limits<std::size_t>::max());

}  // namespace mortise::check
