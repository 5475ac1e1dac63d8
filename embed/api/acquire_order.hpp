// The parameters of an acquire, on their way to the core, and its result on the way back.
#pragma once

#include <chrono>
#include <system_error>

#include "embed/threads/call_gate.hpp"
#include <mortise/detail/start.hpp>

namespace mortise::detail {

// After the deadline the core answers within one step. If it does not, the thread stops waiting
// after this time.
constexpr auto slack = std::chrono::milliseconds{100};

[[nodiscard]] core::Instant to_instant(Deadline deadline);

// Checks what no cluster would accept; no error if the order is valid. Repeated names are merged,
// and all names are put into the order that the core requires.
[[nodiscard]] std::error_code check(AcquireOrder& order);
// Moves the names of the order into the call.
[[nodiscard]] Submitted begin(CallGate& gate, const AcquireOrder& order);
// How long the thread waits for the acquire.
[[nodiscard]] Deadline gives_up(const Submitted& acquire);
// Translates the end of a wait: it is an error for a caller that waits without a limit, and an
// answer for a caller with a deadline. The cluster knows only tries and waits: a wait that is over
// at its start becomes a try.
void interpret(Attempt attempt, CallOutcome& outcome);

}  // namespace mortise::detail
