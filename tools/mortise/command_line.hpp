#pragma once

#include "tools/mortise/command.hpp"

namespace mortise::cli {

// Reads the words of a command line: the options keep their values. Returns the command that was
// chosen; null if help or the version was asked for and printed. Throws Failure.
[[nodiscard]] const Command* read_command_line(const Command& program, int argc, char** argv);

// Carries it out. Returns the exit code.
int run_command_line(int argc, char** argv);

}  // namespace mortise::cli
