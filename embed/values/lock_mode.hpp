// Converts what a grant contains to the terms of the public API. The public modes, and the ends of
// predecessors, have the order of those of the core.
#pragma once

#include "core/locks/outcome.hpp"
#include <mortise/enums.hpp>
#include <mortise/fencing_token.hpp>
#include <mortise/hold.hpp>

namespace mortise::detail {

[[nodiscard]] constexpr core::LockMode to_core(LockMode mode) {
    return static_cast<core::LockMode>(mode);
}
[[nodiscard]] constexpr LockMode from_core(core::LockMode mode) {
    return static_cast<LockMode>(mode);
}
static_assert(to_core(LockMode::update) == core::LockMode::update);
static_assert(to_core(LockMode::exclusive) == core::LockMode::exclusive);
[[nodiscard]] inline FencingToken from_core(core::FencingToken token) {
    return FencingToken::from_raw(static_cast<std::int64_t>(token.raw()));
}
[[nodiscard]] inline Previous from_core(const core::Previous& previous) {
    return {static_cast<Predecessor>(previous.how), previous.label, from_core(previous.token)};
}

}  // namespace mortise::detail
