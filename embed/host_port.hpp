#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mortise::detail {

struct HostPort {
    std::string host;  // a name or a literal address, IPv6 without its brackets
    std::uint16_t port = 0;

    friend bool operator==(const HostPort&, const HostPort&) = default;
};

// "node-1.example:7401", "127.0.0.1:7401", "[::1]:7401". Empty for anything else.
std::optional<HostPort> parse_host_port(std::string_view text);

// Why that is none, in words for whoever wrote it.
std::string not_an_address(std::string_view text);

// The one way to write it, of the many that name the same: for comparing. No look-up.
std::string canonical(const HostPort& address);

// Whether the host is an address rather than a name.
[[nodiscard]] bool is_numeric(const HostPort& address);
// Whether it is an address that only this machine reaches. A name is none: see what it resolves to.
[[nodiscard]] bool is_loopback(const HostPort& address);

}  // namespace mortise::detail
