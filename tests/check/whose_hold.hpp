// Which hold each call refers to. A process may share the token of readers more than once, one time
// after the other or at the same time, and the token is the same each time. If the process says
// which hold it means (Call::hold), that is used. Otherwise a hold is a new one if everything that
// the process had with the token before was released, and holds at the same time cannot be
// distinguished.
#pragma once

#include <cstddef>
#include <vector>

#include "tests/check/call.hpp"

namespace mortise::check {

// By the position of the call: the number of its hold, from 0 on without gaps. Holds that cannot be
// distinguished share a number; a call without a token has a number without a meaning.
[[nodiscard]] std::vector<std::size_t> whose_holds(const Calls& calls);

}  // namespace mortise::check
