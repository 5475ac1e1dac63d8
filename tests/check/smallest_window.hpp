// Selects the calls that a person has to examine from calls that cannot be explained.
#pragma once

#include <limits>

#include "tests/check/call.hpp"

namespace mortise::check {

// Requires that the calls, all for one name, cannot be explained. None of the remaining ones can be
// removed; the calls about a hold are kept or removed together.
[[nodiscard]] Calls smallest_window(
    const Calls& calls, std::size_t states_max = std::numeric_limits<std::size_t>::max());

}  // namespace mortise::check
