// Which process listens on a port of this machine, and a node that needs one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include <mortise/config.hpp>
#include <mortise/node.hpp>

namespace mortise::cli {

struct PortOwner {
    pid_t process = 0;
    std::string program;  // its name, as the system shows it

    // "process 4711 (nginx)"
    [[nodiscard]] std::string to_string() const;
};

// The port of "host:port", which was checked before.
[[nodiscard]] std::uint16_t port_of(const std::string& address);
// Reads /proc. Empty if nothing listens there, or if this user may not see whose socket it is.
[[nodiscard]] std::optional<PortOwner> owner_of_port(std::uint16_t port);

// Throws what the constructor of Node throws. The error of a port that is in use names its owner,
// if this user may know it.
[[nodiscard]] Node open_node(const Config& config);

}  // namespace mortise::cli
