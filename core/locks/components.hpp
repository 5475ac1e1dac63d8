// Strongly connected components of a graph: nodes that can be reached from each other.
// Tarjan, "Depth-first search and linear graph algorithms", 1972; here without recursion, as a
// graph may be thousands of nodes deep.
#pragma once

#include <cstddef>
#include <vector>

namespace mortise::core {

// For each node, the nodes that its edges lead to.
using Graph = std::vector<std::vector<std::size_t>>;

// For each node the number of its component. Costs one look at each node and edge.
[[nodiscard]] std::vector<std::size_t> components_of(const Graph& graph);

}  // namespace mortise::core
