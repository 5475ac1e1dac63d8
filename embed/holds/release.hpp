// The release of a hold, which allocates no memory.
#pragma once

#include <memory>
#include <system_error>

#include "embed/holds/hold_record.hpp"
#include "embed/threads/completion.hpp"

namespace mortise::detail {

struct GivenBack {
    bool asked = false;  // the cluster was asked, and `waiting` gets its answer
    // the answer if the cluster was not asked; no error if others still share the grant
    std::error_code error;
};

// Called when the owner releases the hold; the first call counts. The grant is released when no
// other hold shares it.
GivenBack give_back(const std::shared_ptr<HoldRecord>& hold, core::CallTag tag,
                    std::shared_ptr<Completion> waiting) noexcept;

// Called if mark_released() of this grant was true.
GivenBack submit_release(const std::shared_ptr<HoldRecord>& grant, core::CallTag tag,
                         std::shared_ptr<Completion> waiting) noexcept;

// The same, whether or not the grant might stay in the cache.
GivenBack send_release(const std::shared_ptr<HoldRecord>& grant, core::CallTag tag,
                       std::shared_ptr<Completion> waiting) noexcept;

// Waits for the answer of the cluster to a release that was just submitted; outcome_unknown if it
// is late.
std::error_code wait_for_release(WaitingThread& waiting, const CallGate& gate);

}  // namespace mortise::detail
