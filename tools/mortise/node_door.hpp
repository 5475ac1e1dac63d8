// The door for HTTP of the command node. Not every program has it: with_door.cpp and
// without_door.cpp are the two implementations, and a program links one of them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mortise/config.hpp>
#include <mortise/node.hpp>

namespace mortise::cli {

struct DoorChoice {
    std::optional<std::string> listen;  // where it listens; not set: there is none
    bool allow_remote = false;          // that may be an address of other machines, without TLS
    std::vector<std::string> hosts;     // further names by which it is reached
    std::string tokens;                 // the file of tokens; empty: none
};

// Whether this program has the door.
[[nodiscard]] bool has_door();

// Throws what open_door() throws for options that are not valid, before there is a node.
void check_door(const DoorChoice& choice, const Config& config);

struct OpenDoor {
    std::shared_ptr<void> server;  // closed when the last copy ends
    std::string url;               // empty if there is none
};

// Opens the door that was chosen, if any was and this program has one. With TLS in the
// configuration it speaks HTTPS. Throws what the constructor of HttpDoor throws. The node must
// outlive it.
[[nodiscard]] OpenDoor open_door(const DoorChoice& choice, const Config& config, Node& node);

}  // namespace mortise::cli
