// The versions of the byte form of commands (docs/formats.md). A build reads those from the oldest
// to the newest; which one is written is for whoever writes to know (core/node/formats.cpp).
//   1  commands, to the end
//   2  their count in front: a batch that was cut off between two of them is noticed
//   3  conversions, and requests for several names; values, breaks, requests to release
#pragma once

#include <cstdint>

namespace mortise::core {

constexpr std::uint8_t command_format_oldest = 1;
constexpr std::uint8_t command_format_newest = 3;

}  // namespace mortise::core
