// Addresses "host:port", and the set-up of connections.
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
// An IPv4 address in IPv6 form is shown as what it is.
std::string to_string(const asio::ip::address& address);
// True if only this machine reaches the address, also for an IPv4 address in IPv6 form.
bool is_loopback(const asio::ip::address& address);
// True if both may belong to one machine: with IPv6 a machine has a whole network (/64).
bool is_same_source(const asio::ip::address& one, const asio::ip::address& other);
// The name of what is_same_source() takes for one machine.
std::string source_of(const asio::ip::address& address);
// Asio has its own category for errors of the system, which does not equal any std::errc.
std::error_code to_std(const asio::error_code& error);

// Disables the delay of small packets, and enables the detection of a dead peer.
void prepare(asio::ip::tcp::socket& socket);

}  // namespace mortise::transport
