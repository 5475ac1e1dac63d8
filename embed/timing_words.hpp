// What to tell a person whose members are configured with different times.
#pragma once

#include <string>

#include "core/node/hello.hpp"

namespace mortise::detail {

// "election_timeout 5s (here 1s), heartbeat 500ms (here 100ms)"; empty when they are the same, or
// when one of the two does not say.
[[nodiscard]] std::string timing_differences(const core::HelloTiming& theirs,
                                             const core::HelloTiming& ours);

}  // namespace mortise::detail
