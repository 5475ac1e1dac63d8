// Calls that wait for the next run of their node, each until its deadline (P6). Used on the core
// thread only; allocates nothing.
#pragma once

#include <utility>

#include "core/base/instant.hpp"
#include "embed/threads/call_gate.hpp"

namespace mortise::detail {

class WaitingCalls {
public:
    // Calls without an earlier deadline wait for `patience`. Cancelled calls are dropped.
    void add(SubmittedCalls calls, core::Instant now, core::Nanoseconds patience);
    // Keeps calls until they are taken.
    void keep(SubmittedCalls calls) noexcept { waiting_.append(std::move(calls)); }
    // Answers the calls whose time has passed.
    void give_up(core::Instant now);
    // The time of the next one; never if none waits.
    [[nodiscard]] core::Instant deadline() const;
    // Returns all calls, in the order of their arrival.
    [[nodiscard]] SubmittedCalls take_all() { return std::move(waiting_); }

private:
    void cancel(core::CallTag tag);

    SubmittedCalls waiting_;
};

}  // namespace mortise::detail
