// Checks whether the node can listen.
#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

#include <unistd.h>

#include "tools/mortise/doctor/checks.hpp"
#include "tools/mortise/doctor/reach.hpp"
#include "tools/mortise/port_owner.hpp"

namespace mortise::cli {

namespace {

constexpr const char* about_listen = "listen";

// As the node does it (transport/sockets/listener.cpp).
int try_to_listen(const Endpoint& endpoint) {
    const int socket = ::socket(endpoint.get()->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return errno;
    const int on = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (endpoint.get()->sa_family == AF_INET6)
        ::setsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    int number = ::bind(socket, endpoint.get(), endpoint.size) == 0 ? 0 : errno;
    if (number == 0) number = ::listen(socket, 1) == 0 ? 0 : errno;
    ::close(socket);
    return number;
}

Finding judge_taken(const Config& config, std::uint16_t port, bool is_running) {
    const auto owner = owner_of_port(port);
    const auto by = owner ? owner->to_string() : std::string{"another process"};
    if (is_running) return fine(about_listen, config.listen + " is in use by " + by);
    const auto who = owner ? "" : ", which `ss -ltnp` shows as root";
    return problem(about_listen, config.listen + " is in use by " + by,
                   "end that process" + std::string{who} + ", or give this node another port");
}

std::optional<Finding> judge_listening(const Config& config, const Endpoint& endpoint,
                                       std::uint16_t port, bool is_running) {
    const bool is_open = config.tls.is_set() || config.tls.insecure;
    if (!endpoint.is_loopback() && !is_open) {
        return problem(about_listen,
                       config.listen + " is " + endpoint.to_string() +
                           ", which is no loopback address, and there is no TLS",
                       "set tls.certificate, tls.key and tls.ca (`mortise cert` makes the files)");
    }
    const int number = try_to_listen(endpoint);
    if (number == 0) return std::nullopt;
    if (number == EADDRINUSE) return judge_taken(config, port, is_running);
    const auto text =
        "cannot listen on " + config.listen + ": " + std::generic_category().message(number);
    if (number == EADDRNOTAVAIL) {
        return problem(about_listen, text + " (no interface of this machine has it)",
                       "listen on an address of this machine, or on 0.0.0.0 for all of them");
    }
    if (number == EACCES) {
        return problem(about_listen, text,
                       "use a port above 1023, or give the program CAP_NET_BIND_SERVICE");
    }
    return problem(about_listen, text, "correct listen");
}

}  // namespace

Findings check_port(const Config& config, bool is_running) {
    if (config.listen.empty())
        return {fine(about_listen, "this node does not listen: it has no peers")};
    const auto resolved = resolve(config.listen);
    if (resolved.endpoints.empty()) {
        return {problem(about_listen,
                        "the host of " + config.listen + " has no address: " + resolved.problem,
                        "write an address of this machine, or 0.0.0.0 for all of them")};
    }
    const auto port = port_of(config.listen);
    for (const auto& endpoint : resolved.endpoints) {
        if (auto found = judge_listening(config, endpoint, port, is_running))
            return {*std::move(found)};
    }
    return {fine(about_listen, config.listen + " is free")};
}

}  // namespace mortise::cli
