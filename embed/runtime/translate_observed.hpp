// What an observer is told, in the terms of the public API.
#pragma once

#include "core/observe/observed.hpp"
#include <mortise/observe.hpp>

namespace mortise::detail {

// Moves from it.
[[nodiscard]] Event event_of(core::Observed& told);

}  // namespace mortise::detail
