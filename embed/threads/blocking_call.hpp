// Blocking calls of the program that are not acquires.
#pragma once

#include <memory>
#include <string_view>
#include <system_error>

#include "core/agent/call.hpp"
#include "embed/threads/call_gate.hpp"
#include "embed/threads/completion.hpp"

namespace mortise::detail {

// Returns within call_timeout plus a short time. Without an answer the error is no_quorum for a
// read, and outcome_unknown for a change.
[[nodiscard]] CallOutcome ask(const std::shared_ptr<CallGate>& gate, core::InspectCall call);
[[nodiscard]] CallOutcome ask(const std::shared_ptr<CallGate>& gate, core::WriteCall call);

// Throws LockError with the name and, if there is one, the reason.
void throw_if(std::error_code ec, std::string_view name, std::string_view why = {});

}  // namespace mortise::detail
