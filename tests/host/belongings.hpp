// What belongs to the program around a node, as it is at this moment; what differs has a name.
#pragma once

#include <map>
#include <string>

namespace mortise::tests {

// Of the process, and of the calling thread.
using Belongings = std::map<std::string, std::string>;

[[nodiscard]] Belongings belongings();
// The names of what is not the same, with both; empty when all is.
[[nodiscard]] std::string difference(const Belongings& before, const Belongings& after);

}  // namespace mortise::tests
