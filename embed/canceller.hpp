// Ends a call early.
#pragma once

#include <memory>
#include <utility>

#include "embed/call_gate.hpp"

namespace mortise::detail {

// What that takes is made before the call begins.
class Canceller {
public:
    Canceller(std::shared_ptr<CallGate> gate, core::CallTag tag)
        : gate_{std::move(gate)}, cancel_{prepared(core::CancelCall{tag})} {}

    // From any thread; the first time counts.
    void cancel() noexcept { gate_->submit(cancel_); }

private:
    const std::shared_ptr<CallGate> gate_;
    SubmittedCalls cancel_;
};

}  // namespace mortise::detail
