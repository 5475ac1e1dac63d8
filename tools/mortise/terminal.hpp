#pragma once

#include <cstdlib>
#include <string_view>

#include <unistd.h>

namespace mortise::cli {

// Colour, and lines that are written over, are for people.
inline bool is_terminal() {
    const char* term = std::getenv("TERM");
    return ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr &&
           (term == nullptr || std::string_view{term} != "dumb");
}

}  // namespace mortise::cli
