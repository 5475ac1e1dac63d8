// Makes a failing history as small as it can: whole entries go, then commands, then sessions.
#pragma once

#include <functional>

#include "tests/spec/script.hpp"

namespace mortise::spec {

// Requires that the script fails. What it answers does as well.
[[nodiscard]] Script minimised(Script script, const std::function<bool(const Script&)>& fails);

}  // namespace mortise::spec
