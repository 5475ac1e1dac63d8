// What an acquire is asked for, on its way to the core and back.
#pragma once

#include <chrono>
#include <system_error>

#include "embed/call_gate.hpp"
#include <mortise/detail/start.hpp>

namespace mortise::detail {

// Beyond the deadline the core decides within a turn; a core that does not is not waited for.
constexpr auto slack = std::chrono::milliseconds{100};

struct Begun {
    core::CallTag tag;
    core::Call call;
    Deadline gives_up = Deadline::max();  // for the thread that waits
    core::Nanoseconds progress_timeout{0};
};

[[nodiscard]] core::Instant to_instant(Deadline deadline);

// What the order has that no cluster would take; no error when it is fine. Of several names those
// that are there twice collapse, and all of them are put into the order that the core wants.
[[nodiscard]] std::error_code check(AcquireOrder& order);
// Leaves the names of the order to the call.
[[nodiscard]] Begun begin(CallGate& gate, AcquireOrder& order);
// That the wait ended is an error for who asked to wait, and an answer for who set an end to it.
// The cluster knows only tries and waits: a wait that was over at its start is a try there.
void interpret(Attempt attempt, CallOutcome& outcome);

}  // namespace mortise::detail
