// The versions of the encoding of commands (docs/formats.md). A build reads the oldest to the
// newest version; the writer decides which one it writes (core/node/log_formats.hpp).
//   1  the count of the commands, and the commands
//   2  the same, with the time of a leader, the origin of a session in its opening, the request to
//      evict a session, and the ceiling of tokens
#pragma once

#include <cstdint>

namespace mortise::core {

constexpr std::uint8_t command_format_oldest = 1;
constexpr std::uint8_t command_format_of_origins = 2;  // of Clock and EvictSession, too
// Members that read it report recalls to client nodes (docs/decisions/0093).
constexpr std::uint8_t command_format_of_recalls = 2;
constexpr std::uint8_t command_format_of_ceilings = 2;
constexpr std::uint8_t command_format_newest = 2;

}  // namespace mortise::core
