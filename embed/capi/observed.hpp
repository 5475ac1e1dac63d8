// The frame of every observation.
#pragma once

#include <memory>
#include <utility>

#include <mortise.h>

#include "embed/capi/calls.hpp"
#include "embed/capi/handles.hpp"
#include "embed/capi/lost_watch.hpp"

namespace mortise::capi {

// `begin` gets the context, which lives as long as somebody refers to it, and returns the
// subscription.
template <class Begin>
[[nodiscard]] int observed(mortise_observation** observation, mortise_error** error,
                           CallbackContext context, const Begin& begin) noexcept {
    clear(observation);
    return guarded(error, [&] {
        require(observation != nullptr, "observation is NULL");
        auto made = std::make_unique<mortise_observation>();
        made->subscription = begin(std::make_shared<CallbackContext>(std::move(context)));
        *observation = made.release();
    });
}

}  // namespace mortise::capi
