// Translates what is contended to the public API.
#pragma once

#include <vector>

#include "core/observe/activity_view.hpp"
#include <mortise/activity.hpp>
#include <mortise/metrics.hpp>

namespace mortise::detail {

[[nodiscard]] Activity activity_of(const core::ActivityView& view);
[[nodiscard]] std::vector<ContendedName> contended_names_of(
    const std::vector<core::HotName>& hottest);
// The present numbers among the metrics.
void put_contention(const core::ContentionView& view, Metrics& metrics);

}  // namespace mortise::detail
