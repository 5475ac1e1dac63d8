// A program without the console: the static one, and those of a build with MORTISE_CONSOLE=OFF.
#include "tools/mortise/node_console.hpp"

namespace mortise::cli {

bool has_console() {
    return false;
}

void check_console(const NodeCommand&) {}

OpenConsole open_console(const NodeCommand&, const Config&, Node&) {
    return nullptr;
}

}  // namespace mortise::cli
