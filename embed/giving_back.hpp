// The way of a hold back to the cluster, which takes no memory.
#pragma once

#include <memory>
#include <system_error>

#include "embed/completion.hpp"
#include "embed/hold_record.hpp"

namespace mortise::detail {

struct GivenBack {
    bool asked = false;     // the cluster, and `waiting` hears what it says
    std::error_code error;  // otherwise this is the answer; none when others still share the grant
};

// Its owner lets go of it, by whatever call comes first. The grant goes back when nobody else
// shares it.
GivenBack give_back(HoldRecord& record, core::CallTag tag,
                    std::shared_ptr<Completion> waiting) noexcept;

// For whom mark_released() of this grant was true.
GivenBack submit_release(HoldRecord& grant, core::CallTag tag,
                         std::shared_ptr<Completion> waiting) noexcept;

// Waits for what the cluster says to a release that was submitted just now; outcome_unknown when
// it is late.
std::error_code wait_for_release(WaitingThread& waiting, const CallGate& gate);

}  // namespace mortise::detail
