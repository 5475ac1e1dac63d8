// Random histories: what a log may contain, including commands that it should not contain. A
// function of the seed.
#pragma once

#include <string>
#include <vector>

#include "core/locks/command.hpp"

namespace mortise::spec {

using Entry = std::vector<core::Command>;
using Script = std::vector<Entry>;  // the entry with log index i is script[i - 1]

[[nodiscard]] Script make_script(std::uint64_t seed);
// One entry a line.
[[nodiscard]] std::string words(const Script& script);

}  // namespace mortise::spec
