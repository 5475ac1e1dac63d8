#include "transport/sockets/dial.hpp"

#include <fstream>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "tests/unit/transport/network_support.hpp"
#include "transport/sockets/resolver.hpp"

namespace mortise::transport {
namespace {

using namespace test;

// The port range that the system uses for outgoing connections.
struct CallersPorts {
    CallersPorts() { std::ifstream{"/proc/sys/net/ipv4/ip_local_port_range"} >> first >> last; }
    int first = 0;
    int last = 0;
};

// The system tries one port after another, every second one of the range, so it reaches this one.
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

// TCP can connect a caller with itself if nothing listens on the port: the connection would occupy
// the port, and the node that should listen on it could not start.
TEST(Dial, DoesNotConnectWithItself) {
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

// The result of an attempt: an error, or a connection.
asio::error_code outcome_of(asio::io_context& io, const DialTarget& target) {
    std::optional<asio::error_code> outcome;
    const auto dial = Dial::start(
        io, target,
        [&](const asio::error_code& error, const asio::ip::tcp::socket&) { outcome = error; });
    EXPECT_FALSE(outcome);
    EXPECT_TRUE(run_until(io, [&] { return outcome.has_value(); }));
    return outcome.value_or(asio::error_code{});
}

// An address for documentation: it never answers, so a connection cannot be the reason of the
// result.
constexpr auto elsewhere = "192.0.2.7:8080";

TEST(Dial, StaysOnTheLoopbackNetworkWhenItIsToldSo) {
    asio::io_context io;
    asio::ip::tcp::acceptor here{io, endpoint_of("127.0.0.1:0")};
    const auto at = to_string(here.local_endpoint());
    EXPECT_FALSE(outcome_of(io, {at, std::nullopt, true}));
    EXPECT_EQ(outcome_of(io, {elsewhere, std::nullopt, true}), asio::error::access_denied);
}

// The address of a name decides, not the name itself.
TEST(Dial, StaysOnTheLoopbackNetworkWhateverANameLeadsTo) {
    asio::io_context io;
    asio::ip::tcp::acceptor here{io, endpoint_of("127.0.0.1:0")};
    const auto port = std::to_string(here.local_endpoint().port());
    asio::use_service<Resolver>(io).look_up_with([](const HostPort& at) {
        Resolver::Found found{{}, {endpoint_of(elsewhere)}};
        if (at.host == "both") found.endpoints.push_back(endpoint_of("127.0.0.1:" + at.port));
        return found;
    });
    const DialTarget away{"away:" + port, std::nullopt, true};
    EXPECT_EQ(outcome_of(io, away), asio::error::access_denied);
    EXPECT_EQ(outcome_of(io, {"away:" + port, endpoint_of(elsewhere), true}),
              asio::error::access_denied);
    EXPECT_FALSE(outcome_of(io, {"both:" + port, std::nullopt, true}));
}

}  // namespace
}  // namespace mortise::transport
