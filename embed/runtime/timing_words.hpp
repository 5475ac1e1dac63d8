// The differences between the configured times of two members, in words.
#pragma once

#include <string>

#include "core/node/hello.hpp"

namespace mortise::detail {

// "election_timeout 5s (here 1s), heartbeat 500ms (here 100ms)"; empty if they are equal, or if one
// of the two nodes does not send its times.
[[nodiscard]] std::string timing_differences(const core::HelloTiming& theirs,
                                             const core::HelloTiming& ours);

}  // namespace mortise::detail
