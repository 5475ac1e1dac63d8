// No wait cycle of lockers may persist (S33). This judge examines only who holds what another waits
// for: less than the rule covers, and found in another way than by the specification.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/locks/machine/lock_machine.hpp"

namespace mortise::sim {

// Whether that request is for any of several names: then one taken name does not block it.
using TakesAny = std::function<bool(core::OperationId)>;

// A cycle in what is held and waited for, in words: each locker in it waits for what the next one
// holds. Empty if there is none.
[[nodiscard]] std::string standing_cycle(const std::vector<core::LockView>& locks,
                                         const TakesAny& takes_any);

}  // namespace mortise::sim
