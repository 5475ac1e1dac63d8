// A program with the door for HTTP: it links mortise::http_door.
#include <memory>
#include <utility>

#include "tools/mortise/node_door.hpp"
#include <mortise/http_door.hpp>

namespace mortise::cli {

namespace {

HttpDoorOptions options_of(const DoorChoice& choice, const Config& config) {
    HttpDoorOptions options;
    options.listen = choice.listen->empty() ? options.listen : *choice.listen;
    options.allow_remote = choice.allow_remote;
    options.hosts = choice.hosts;
    options.tokens = choice.tokens;
    options.tls = config.tls;
    options.log = config.log;
    return options;
}

}  // namespace

bool has_door() {
    return true;
}

void check_door(const DoorChoice& choice, const Config& config) {
    if (choice.listen) HttpDoor::check(options_of(choice, config));
}

OpenDoor open_door(const DoorChoice& choice, const Config& config, Node& node) {
    if (!choice.listen) return {};
    auto door = std::make_shared<HttpDoor>(node, options_of(choice, config));
    auto url = door->url();
    return {std::move(door), std::move(url)};
}

}  // namespace mortise::cli
