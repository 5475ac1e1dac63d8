// Which hold each call is about. A process may take part in the token of readers more than once,
// one time after the other or at once, and the token is the same each time. Where it says which of
// its holds it means (Call::hold), that is it; otherwise a hold is a new one when everything that
// the process had under the token before was given back, and what it has at once cannot be told
// apart.
#pragma once

#include <cstddef>
#include <vector>

#include "tests/check/call.hpp"

namespace mortise::check {

// By place of the call: the number of its hold, from 0 on without gaps. Holds that cannot be told
// apart have one number; what has no token has one, too, which means nothing.
[[nodiscard]] std::vector<std::size_t> whose_holds(const Calls& calls);

}  // namespace mortise::check
