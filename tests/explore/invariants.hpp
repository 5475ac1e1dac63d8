// The safety properties of consensus (thesis 3.2, figure 3.2), for one state of the whole cluster.
#pragma once

#include <array>
#include <string>

#include "tests/explore/history.hpp"

namespace mortise::explore {

inline constexpr std::size_t cluster_size = 3;
using Cluster = std::array<const Known*, cluster_size>;

// Returns what is violated, or nothing.
[[nodiscard]] std::string violation(const Cluster& cluster, const History& history);

}  // namespace mortise::explore
