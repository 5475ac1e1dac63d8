// The public modes and those of the core have the same order.
#pragma once

#include "core/locks/lock_mode.hpp"
#include <mortise/enums.hpp>

namespace mortise::detail {

[[nodiscard]] constexpr core::LockMode to_core(LockMode mode) {
    return static_cast<core::LockMode>(mode);
}
[[nodiscard]] constexpr LockMode from_core(core::LockMode mode) {
    return static_cast<LockMode>(mode);
}
static_assert(to_core(LockMode::update) == core::LockMode::update);
static_assert(to_core(LockMode::exclusive) == core::LockMode::exclusive);

}  // namespace mortise::detail
