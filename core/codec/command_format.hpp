// The versions of the byte form of commands (docs/formats.md). A build reads those from the oldest
// to the newest; the writer decides which one it writes (core/node/log_formats.hpp).
//   1  the count of the commands, and the commands
#pragma once

#include <cstdint>

namespace mortise::core {

constexpr std::uint8_t command_format_oldest = 1;
constexpr std::uint8_t command_format_newest = 1;

}  // namespace mortise::core
