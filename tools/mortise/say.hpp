// Lines that are written at once or not at all: whoever does not read the output of this program
// must not keep it from what it does.
#pragma once

#include <string>
#include <string_view>

#include <mortise/enums.hpp>
#include <mortise/node_id.hpp>

namespace mortise::cli {

// Writes "mortise: LINE" to standard error, in one piece. A line for which there is no room is
// dropped. Thread-safe. The level is only in JSON.
void say(std::string_view line, LogLevel level = LogLevel::warn);
// From now on lines are objects like those of the log of a node with LogFormat::json, and with this
// id. Call it before the process has other threads.
void say_in_json(NodeId node);
// Writes to a descriptor in the same way, and returns whether all of it was written. A pipe gets
// at most PIPE_BUF bytes; of a longer text the rest is cut off.
bool write_at_once(int descriptor, std::string text);

}  // namespace mortise::cli
