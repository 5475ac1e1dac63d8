// The state of the program around a node at this moment; each part of it has a name.
#pragma once

#include <map>
#include <string>

namespace mortise::tests {

// Of the process and of the calling thread.
using Belongings = std::map<std::string, std::string>;

[[nodiscard]] Belongings belongings();
// The names of the parts that differ, with both values; empty if there are none.
[[nodiscard]] std::string difference(const Belongings& before, const Belongings& after);

}  // namespace mortise::tests
