#pragma once

#include <cstdlib>
#include <string_view>

#include <poll.h>
#include <unistd.h>

namespace mortise::cli {

// Colours and overwritten lines are used only on a terminal.
inline bool is_terminal() {
    const char* term = std::getenv("TERM");
    return ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr &&
           (term == nullptr || std::string_view{term} != "dumb");
}

// As in `mortise locks | head`: not an error, and there is no reader for a message.
inline bool output_has_no_reader() {
    pollfd output{STDOUT_FILENO, POLLOUT, 0};
    return ::poll(&output, 1, 0) == 1 && (output.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace mortise::cli
