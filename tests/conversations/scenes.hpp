// The five conversations. Each plays on a stage of its own.
#pragma once

#include <array>

#include "tests/conversations/transcript.hpp"

namespace mortise::conversations {

struct Scene {
    const char* name;  // of its page
    Transcript (*play)();
};

[[nodiscard]] Transcript election();
[[nodiscard]] Transcript acquire();
[[nodiscard]] Transcript failover();
[[nodiscard]] Transcript membership();
[[nodiscard]] Transcript snapshot();

inline constexpr std::array<Scene, 5> scenes{{{"election", election},
                                              {"acquire", acquire},
                                              {"failover", failover},
                                              {"membership", membership},
                                              {"snapshot", snapshot}}};

}  // namespace mortise::conversations
