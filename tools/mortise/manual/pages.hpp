// What the parser does not know about the commands: examples and exit codes.
#pragma once

#include "tools/mortise/manual/command_doc.hpp"

namespace mortise::cli {

// Adds them to the documentation of a command. A command that has no page keeps none.
void add_page(CommandDoc& command);

}  // namespace mortise::cli
