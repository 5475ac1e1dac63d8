// Whether the certificate of a node allows a call of its own program (S50, docs/decisions/0031).
#pragma once

#include <optional>
#include <string_view>

#include "core/agent/call.hpp"

namespace mortise::core {

// Empty if the access allows it. `who` begins the sentence of the refusal.
[[nodiscard]] std::optional<Denied> denial_of(const Call& call, const Access& access,
                                              std::string_view who);

}  // namespace mortise::core
