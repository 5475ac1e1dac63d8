#include "transport/dial.hpp"

#include <fstream>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "tests/unit/transport/network_support.hpp"

namespace mortise::transport {
namespace {

using namespace test;

// Of this machine: the ports that the system gives to those who call.
struct CallersPorts {
    CallersPorts() { std::ifstream{"/proc/sys/net/ipv4/ip_local_port_range"} >> first >> last; }
    int first = 0;
    int last = 0;
};

// The system tries one port after another, every second one of them, so it comes to this one.
std::optional<int> free_port(const CallersPorts& ports, asio::io_context& io) {
    for (int port = ports.first; port <= ports.last; port += 2) {
        asio::ip::tcp::acceptor acceptor{io};
        asio::error_code taken;
        acceptor.open(asio::ip::tcp::v4());
        acceptor.bind(endpoint_of("127.0.0.1:" + std::to_string(port)), taken);
        if (!taken) return port;
    }
    return std::nullopt;
}

// TCP lets a caller be connected with itself when nobody listens there: it would take the port, and
// whoever is to listen on it could not start.
TEST(Dial, NobodyMeetsThemselves) {
    asio::io_context io;
    const CallersPorts ports;
    ASSERT_GT(ports.last, ports.first);
    const auto port = free_port(ports, io);
    ASSERT_TRUE(port);
    const DialTarget target{"127.0.0.1:" + std::to_string(*port)};
    bool met = false;
    for (int tries = (ports.last - ports.first) * 3 / 4; tries > 0 && !met; --tries) {
        const auto dial = Dial::start(
            io, target,
            [&](const asio::error_code& error, const asio::ip::tcp::socket&) { met = !error; });
        io.restart();
        io.run();
    }
    EXPECT_FALSE(met);
}

}  // namespace
}  // namespace mortise::transport
