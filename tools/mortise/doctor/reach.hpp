// Resolves addresses and connects to them, and says in words why that fails.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>

namespace mortise::cli {

// "[::1]:7401" is the host "::1" and the port "7401". The address was checked before.
struct HostAndPort {
    std::string host;
    std::string port;
};
[[nodiscard]] HostAndPort split_address(const std::string& address);

struct Endpoint {
    sockaddr_storage address{};
    socklen_t size = 0;

    [[nodiscard]] const sockaddr* get() const {
        return reinterpret_cast<const sockaddr*>(&address);  // as the system takes it
    }
    [[nodiscard]] bool is_loopback() const;
    [[nodiscard]] bool is_wildcard() const;
    // Whether an interface of this machine has the address.
    [[nodiscard]] bool is_of_this_machine() const;
    [[nodiscard]] std::string to_string() const;  // without the port
};

struct Resolved {
    std::vector<Endpoint> endpoints;
    std::string problem;  // why there are none
};
// Blocks for as long as the system's resolver takes.
[[nodiscard]] Resolved resolve(const std::string& address);

enum class Reach { connected, unresolved, refused, no_route, silent, failed };

struct Reached {
    Reach how = Reach::connected;
    std::string detail;  // the system's words; empty if connected
    // Other endpoints of the address that do not answer, while one does.
    std::vector<std::string> silent{};
};
// Tries all endpoints, each for that long, on this thread, 16 at a time. The connections are closed
// at once.
[[nodiscard]] Reached reach(const Resolved& resolved, std::chrono::milliseconds patience);

}  // namespace mortise::cli
