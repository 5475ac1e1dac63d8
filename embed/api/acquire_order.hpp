// The parameters of an acquire, on their way to the core, and its result on the way back.
#pragma once

#include <memory>
#include <system_error>

#include "embed/threads/call_gate.hpp"
#include <mortise/detail/start.hpp>

namespace mortise::detail {

[[nodiscard]] core::Instant to_instant(Deadline deadline);

// Checks what no cluster would accept; no error if the order is valid. Repeated names are merged,
// and all names are put into the order that the core requires.
[[nodiscard]] std::error_code check(AcquireOrder& order);
[[nodiscard]] std::shared_ptr<Submitted> begin(CallGate& gate, const AcquireOrder& order);
// Translates the end of a wait: it is an error for a caller that waits without a limit, and an
// answer for a caller with a deadline. The cluster knows only tries and waits: a wait that is over
// at its start becomes a try.
void interpret(Attempt attempt, CallOutcome& outcome);

}  // namespace mortise::detail
