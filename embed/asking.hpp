// A thread of the program asks the node something that is no acquire, and waits for the answer.
#pragma once

#include <memory>
#include <string_view>
#include <system_error>

#include "core/agent/call.hpp"
#include "embed/call_gate.hpp"
#include "embed/completion.hpp"

namespace mortise::detail {

// Answers within call_timeout and a moment. No answer at all: of a read no_quorum, of what changes
// something outcome_unknown.
[[nodiscard]] CallOutcome ask(const std::shared_ptr<CallGate>& gate, core::InspectCall call);
[[nodiscard]] CallOutcome ask(const std::shared_ptr<CallGate>& gate, core::WriteCall call);

// As LockError, with the name and, as far as there is more to say than the code does, why.
void throw_if(std::error_code ec, std::string_view name, std::string_view why = {});

}  // namespace mortise::detail
