// No circle of lockers may stand (S33). Looks at who holds what somebody waits for, and at nothing
// else: less than the rule sees, and found in another way than by the specification.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/locks/machine/lock_machine.hpp"

namespace mortise::sim {

// Is that request for any of several names? Then one name that is taken does not stop it.
using TakesAny = std::function<bool(core::OperationId)>;

// Of all that is held and waited for: a circle of lockers, each of which waits for what the next
// one holds, in words. Empty when there is none.
[[nodiscard]] std::string standing_circle(const std::vector<core::LockView>& locks,
                                          const TakesAny& takes_any);

}  // namespace mortise::sim
