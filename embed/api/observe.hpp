// Subscriptions to the changes of locks.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "embed/runtime/node_runtime.hpp"
#include <mortise/observe.hpp>

namespace mortise::detail {

inline constexpr std::string_view no_sink = "the function that gets the events is empty";

struct ObserveFailure {
    std::error_code error;
    std::string reason;  // empty if the error says everything
};

// See Node::observe().
[[nodiscard]] Subscription observe(const std::shared_ptr<NodeRuntime>& node,
                                   std::string_view prefix, EventSink sink,
                                   const ObserveOptions& options, ObserveFailure& failure);

}  // namespace mortise::detail
