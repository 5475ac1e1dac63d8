// "host:port" and what becomes of it, and how a connection is set up.
#pragma once

#include <string>
#include <system_error>

#include <asio/ip/tcp.hpp>

#include "core/base/result.hpp"

namespace mortise::transport {

struct HostPort {
    std::string host;  // without the brackets of IPv6; empty: every address of this machine
    std::string port;
};

core::Result<HostPort> parse_address(const std::string& address);
std::string to_string(const asio::ip::tcp::endpoint& endpoint);
// Of this machine alone, also where an IPv4 address is written as one of IPv6.
bool is_loopback(const asio::ip::address& address);
// Whether both may be of one machine: IPv6 gives each a network of its own (/64).
bool is_same_source(const asio::ip::address& one, const asio::ip::address& other);
// Asio has a category of its own for errors of the system, which equals no std::errc.
std::error_code to_std(const asio::error_code& error);

// No delay for small packets, and a dead other side is found out.
void prepare(asio::ip::tcp::socket& socket);

}  // namespace mortise::transport
