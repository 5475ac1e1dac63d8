// Cancels a call.
#pragma once

#include <memory>
#include <utility>

#include "embed/threads/call_gate.hpp"

namespace mortise::detail {

// Its memory is allocated before the call begins.
class Canceller {
public:
    Canceller(std::shared_ptr<CallGate> gate, core::CallTag tag, bool is_needed = true)
        : gate_{std::move(gate)} {
        if (is_needed) cancel_ = prepared(core::CancelCall{tag});
    }

    // May be called from any thread; only the first call has an effect.
    void cancel() noexcept { gate_->submit(cancel_); }

private:
    const std::shared_ptr<CallGate> gate_;
    std::shared_ptr<Submitted> cancel_;
};

}  // namespace mortise::detail
