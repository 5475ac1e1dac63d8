#pragma once

namespace mortise::cli {

// Parses the command line, runs the command, and returns the exit code.
[[nodiscard]] int run_command_line(int argc, char** argv);

}  // namespace mortise::cli
