// Strongly connected components of a graph: sets of nodes that can be reached from each other.
// Tarjan, "Depth-first search and linear graph algorithms", 1972; without recursion, because a
// graph may be thousands of nodes deep.
#pragma once

#include <cstddef>
#include <vector>

namespace mortise::core {

// For each node, the nodes that its edges lead to.
using Graph = std::vector<std::vector<std::size_t>>;

// The number of the component of each node. Examines each node and edge once.
[[nodiscard]] std::vector<std::size_t> components_of(const Graph& graph);

}  // namespace mortise::core
