#pragma once

#include <cstdlib>
#include <string_view>

#include <unistd.h>

namespace mortise::cli {

// Colours and overwritten lines are used only on a terminal.
inline bool is_terminal() {
    const char* term = std::getenv("TERM");
    return ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr &&
           (term == nullptr || std::string_view{term} != "dumb");
}

}  // namespace mortise::cli
