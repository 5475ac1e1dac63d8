// Makes a failing history as small as it can: removes whole entries, then commands, then sessions.
#pragma once

#include <functional>

#include "tests/spec/script.hpp"

namespace mortise::spec {

// Requires that the script fails. The returned one fails as well.
[[nodiscard]] Script minimised(Script script, const std::function<bool(const Script&)>& fails);

}  // namespace mortise::spec
