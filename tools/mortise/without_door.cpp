// A program without the door for HTTP: the static one, and those of a build with MORTISE_HTTP=OFF.
#include "tools/mortise/node_door.hpp"

namespace mortise::cli {

bool has_door() {
    return false;
}

void check_door(const DoorChoice&, const Config&) {}

OpenDoor open_door(const DoorChoice&, const Config&, Node&) {
    return {};
}

}  // namespace mortise::cli
