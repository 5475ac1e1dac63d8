#include "embed/config/host_port.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "embed/config/config_keys.hpp"

namespace mortise::detail {

namespace {

constexpr std::size_t host_bytes_max = 253;

bool is_name(std::string_view host) {
    return std::all_of(host.begin(), host.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '-' || c == '_';
    });
}

bool is_ipv4(const std::string& host) {
    in_addr address{};
    return inet_pton(AF_INET, host.c_str(), &address) == 1;
}

bool is_ipv6(const std::string& host) {
    in6_addr address{};
    return inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
    std::uint16_t port = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, port);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    return port;
}

}  // namespace

std::optional<HostPort> parse_host_port(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const auto port = parse_port(text.substr(colon + 1));
    std::string host{text.substr(0, colon)};
    if (!port || host.empty() || host.size() > host_bytes_max) return std::nullopt;
    if (host.front() == '[' && host.back() == ']') {
        host = host.substr(1, host.size() - 2);
        if (!is_ipv6(host)) return std::nullopt;
        return HostPort{std::move(host), *port};
    }
    // A host of digits and dots is a misspelt address: no name looks like that.
    const bool digits = host.find_first_not_of("0123456789.") == std::string::npos;
    if (!is_name(host) || (digits && !is_ipv4(host))) return std::nullopt;
    return HostPort{std::move(host), *port};
}

std::optional<HostPort> parse_found_peers(std::string_view text) {
    constexpr std::string_view scheme = "dns:";
    if (!text.starts_with(scheme)) return std::nullopt;
    auto name = parse_host_port(text.substr(scheme.size()));
    if (!name || name->port == 0 || is_numeric(*name)) return std::nullopt;
    return name;
}

std::optional<std::uint64_t> id_in_host_name(std::string_view name) {
    const auto first = name.substr(0, name.find('.'));
    const auto hyphen = first.rfind('-');
    if (hyphen == std::string_view::npos) return std::nullopt;
    const auto digits = first.substr(hyphen + 1);
    std::uint32_t ordinal = 0;
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, ordinal);
    if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
    return std::uint64_t{ordinal} + 1;
}

std::string not_an_address(std::string_view text) {
    const auto colon = text.rfind(':');
    const auto port = colon == std::string_view::npos ? "" : text.substr(colon + 1);
    const bool digits = port.find_first_not_of("0123456789") == std::string_view::npos;
    if (digits && !port.empty() && !parse_port(port))
        return in_quotes(text) + " is not an address: a port is at most 65535";
    return in_quotes(text) + " is not an address: write host:port, or [::1]:port for IPv6";
}

std::string canonical(const HostPort& address) {
    std::string host = address.host;
    in6_addr v6{};
    if (inet_pton(AF_INET6, host.c_str(), &v6) == 1) {
        std::array<char, INET6_ADDRSTRLEN> text{};
        host = inet_ntop(AF_INET6, &v6, text.data(), text.size());
    }
    std::ranges::transform(host, host.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return host + " " + std::to_string(address.port);
}

bool is_numeric(const HostPort& address) {
    return is_ipv4(address.host) || is_ipv6(address.host);
}

bool is_loopback(const HostPort& address) {
    in_addr v4{};
    if (inet_pton(AF_INET, address.host.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24U == 127;
    in6_addr v6{};
    return inet_pton(AF_INET6, address.host.c_str(), &v6) == 1 &&
           std::equal(std::begin(v6.s6_addr), std::end(v6.s6_addr),
                      std::begin(in6addr_loopback.s6_addr));
}

bool is_any(const HostPort& address) {
    in_addr v4{};
    if (inet_pton(AF_INET, address.host.c_str(), &v4) == 1) return v4.s_addr == INADDR_ANY;
    in6_addr v6{};
    return inet_pton(AF_INET6, address.host.c_str(), &v6) == 1 &&
           std::equal(std::begin(v6.s6_addr), std::end(v6.s6_addr),
                      std::begin(in6addr_any.s6_addr));
}

}  // namespace mortise::detail
