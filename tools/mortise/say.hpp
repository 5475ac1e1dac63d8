// Lines that are written at once or not at all: whoever does not read the output of this program
// must not keep it from what it does.
#pragma once

#include <string>
#include <string_view>

namespace mortise::cli {

// Writes "mortise: LINE" to standard error, in one piece. A line for which there is no room is
// dropped. Thread-safe.
void say(std::string_view line);
// Writes to a descriptor in the same way, and returns whether all of it was written. A pipe gets
// at most PIPE_BUF bytes; of a longer text the rest is cut off.
bool write_at_once(int descriptor, std::string text);

}  // namespace mortise::cli
