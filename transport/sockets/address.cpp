#include "transport/sockets/address.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include <asio/error.hpp>
#include <asio/socket_base.hpp>
#include <netinet/tcp.h>

namespace mortise::transport {
namespace {

using KeepAliveIdle = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPIDLE>;
using KeepAliveInterval = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPINTVL>;
using KeepAliveCount = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_KEEPCNT>;

bool is_port(std::string_view text) {
    std::uint16_t port = 0;
    const auto* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, port);
    return error == std::errc{} && stop == end;
}

core::Error not_an_address(const std::string& address) {
    return {std::make_error_code(std::errc::invalid_argument),
            "\"" + address + "\" is not an address; one looks like 10.0.0.1:7400 or [::1]:7400"};
}

}  // namespace

core::Result<HostPort> parse_address(const std::string& address) {
    const auto colon = address.rfind(':');
    if (colon == std::string::npos) return not_an_address(address);
    auto host = address.substr(0, colon);
    auto port = address.substr(colon + 1);
    const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
    if (bracketed) host = host.substr(1, host.size() - 2);
    if (!is_port(port) || (!bracketed && host.find(':') != std::string::npos))
        return not_an_address(address);
    return HostPort{std::move(host), std::move(port)};
}

std::string to_string(const asio::ip::tcp::endpoint& endpoint) {
    const auto address = endpoint.address().to_string();
    const auto host = endpoint.address().is_v6() ? "[" + address + "]" : address;
    return host + ":" + std::to_string(endpoint.port());
}

namespace {

asio::ip::address as_it_is(const asio::ip::address& address) {
    if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
}

}  // namespace

std::string to_string(const asio::ip::address& address) {
    return as_it_is(address).to_string();
}

bool is_loopback(const asio::ip::address& address) {
    return as_it_is(address).is_loopback();
}

bool is_same_source(const asio::ip::address& one, const asio::ip::address& other) {
    if (!one.is_v6() || !other.is_v6() || one.to_v6().is_v4_mapped()) return one == other;
    const auto a = one.to_v6().to_bytes();
    const auto b = other.to_v6().to_bytes();
    return std::equal(a.begin(), a.begin() + a.size() / 2, b.begin());
}

std::string source_of(const asio::ip::address& address) {
    if (!address.is_v6() || address.to_v6().is_v4_mapped()) return address.to_string();
    auto bytes = address.to_v6().to_bytes();
    std::fill(bytes.begin() + bytes.size() / 2, bytes.end(), std::uint8_t{0});
    return asio::ip::make_address_v6(bytes).to_string() + "/64";
}

std::error_code to_std(const asio::error_code& error) {
    const bool of_system = error.category() == asio::error::get_system_category();
    return of_system ? std::error_code{error.value(), std::system_category()} : error;
}

void prepare(asio::ip::tcp::socket& socket) {
    // A connection works without any of these options.
    asio::error_code ignored;
    socket.set_option(asio::ip::tcp::no_delay{true}, ignored);
    socket.set_option(asio::socket_base::keep_alive{true}, ignored);
    socket.set_option(KeepAliveIdle{15}, ignored);
    socket.set_option(KeepAliveInterval{5}, ignored);
    socket.set_option(KeepAliveCount{3}, ignored);
}

}  // namespace mortise::transport
