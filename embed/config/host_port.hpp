#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mortise::detail {

struct HostPort {
    std::string host;  // a name or a literal address, IPv6 without brackets
    std::uint16_t port = 0;

    friend bool operator==(const HostPort&, const HostPort&) = default;
};

// Parses "node-1.example:7401", "127.0.0.1:7401", "[::1]:7401". Empty for any other text.
std::optional<HostPort> parse_host_port(std::string_view text);

// Parses "dns:NAME:PORT", the form of Config::peers_from. Empty for any other text, and for an
// address in place of the name.
std::optional<HostPort> parse_found_peers(std::string_view text);
// The id in the host name of a pod or a container: 3 for "mortise-2" and "mortise-2.example.org".
// Empty if the name does not end with a hyphen and a number.
std::optional<std::uint64_t> id_in_host_name(std::string_view name);

// Why the text is not an address, in words for its author.
std::string not_an_address(std::string_view text);

// One form for all spellings of an address, for comparisons. Does not resolve names.
std::string canonical(const HostPort& address);

// Whether the host is an address and not a name.
[[nodiscard]] bool is_numeric(const HostPort& address);
// Whether only this machine reaches the address. False for a name: check what it resolves to.
[[nodiscard]] bool is_loopback(const HostPort& address);
// Whether the address stands for all addresses of a machine, as 0.0.0.0 does. False for a name.
[[nodiscard]] bool is_any(const HostPort& address);

}  // namespace mortise::detail
