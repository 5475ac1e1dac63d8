// Calls that wait for another life of their node, each no longer than it may (P6). On the core
// thread only; takes no memory.
#pragma once

#include <utility>

#include "core/base/instant.hpp"
#include "embed/call_gate.hpp"

namespace mortise::detail {

class WaitingCalls {
public:
    // Those without an earlier deadline wait for `patience`. What is cancelled is over.
    void add(SubmittedCalls calls, core::Instant now, core::Nanoseconds patience);
    // Until they are taken.
    void keep(SubmittedCalls& calls) noexcept { waiting_.splice(waiting_.end(), calls); }
    // Answers those whose time is over.
    void give_up(core::Instant now);
    // When the next one's is; never if none waits.
    [[nodiscard]] core::Instant deadline() const;
    // In the order in which they came.
    [[nodiscard]] SubmittedCalls take_all() { return std::exchange(waiting_, {}); }

private:
    void cancel(core::CallTag tag);

    SubmittedCalls waiting_;
};

}  // namespace mortise::detail
