#pragma once

namespace mortise::cli {

// Understands the words, does what they say, and answers what to exit with.
[[nodiscard]] int run_command_line(int argc, char** argv);

}  // namespace mortise::cli
