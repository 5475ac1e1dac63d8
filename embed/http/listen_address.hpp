// Where the console or the door listens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "embed/http/descriptor.hpp"

namespace mortise::http {

struct ListenAddress {
    std::string host;  // an IP address, without brackets
    std::uint16_t port = 0;
    std::string_view who = "console";  // who listens: messages begin with it

    // Parses "ADDRESS:PORT"; "localhost" is 127.0.0.1. Throws std::system_error
    // (invalid_argument) for anything else.
    [[nodiscard]] static ListenAddress parse(std::string_view text, std::string_view who);

    [[nodiscard]] bool is_v6() const { return host.find(':') != std::string::npos; }
    [[nodiscard]] bool is_loopback() const;
    // All addresses of the machine.
    [[nodiscard]] bool is_any() const { return host == "0.0.0.0" || host == "::"; }
    // "127.0.0.1", "[::1]"
    [[nodiscard]] std::string bracketed() const { return is_v6() ? "[" + host + "]" : host; }
    [[nodiscard]] std::string to_string() const { return bracketed() + ":" + std::to_string(port); }
};

// Listens there, and sets the port that was found if it was 0. Throws std::system_error.
[[nodiscard]] Descriptor listen_on(ListenAddress& address);

}  // namespace mortise::http
