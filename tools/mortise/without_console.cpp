// A program without the console: the static one, and those of a build with MORTISE_CONSOLE=OFF.
#include "tools/mortise/node_console.hpp"

namespace mortise::cli {

bool has_console() {
    return false;
}

void check_console(const ConsoleChoice&) {}

OpenConsole open_console(const ConsoleChoice&, const Config&, Node&) {
    return {};
}

}  // namespace mortise::cli
