#include "transport/sockets/dial.hpp"

#include <fstream>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/plain_service.hpp"
#include "tests/unit/transport/network_support.hpp"
#include "transport/clients/member_client.hpp"
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

// A member that clients can connect to.
struct PlainMember {
    struct Service : test::PlainService {
        MemberStatus status() const override { return {}; }
        void list(ListRequest, std::function<void(ListAnswer)>) override {}
        void change(core::MembershipGoal, core::Nanoseconds,
                    std::function<void(ChangeAnswer)>) override {}
        void break_lock(core::BreakLock, std::function<void(ChangeAnswer)>) override {}
    };
    PlainMember(asio::io_context& io, const std::string& address)
        : node{io, 1, {address}, {}, &service} {
        EXPECT_TRUE(node.start());
    }
    Service service;
    Node node;
};

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

// --- several addresses of one name (RFC 8305)

TEST(Dial, TriesTheNextAddressWhileTheFirstIsSilent) {
    asio::io_context io;
    const HalfSilentName half{io};
    asio::ip::tcp::acceptor here{io, half.here()};
    EXPECT_FALSE(outcome_of(io, {half.name()}));
}

TEST(Dial, LooksUpTheNameWhileTheLastKnownAddressIsSilent) {
    asio::io_context io;
    const HalfSilentName half{io};
    asio::ip::tcp::acceptor here{io, half.here()};
    EXPECT_FALSE(outcome_of(io, {half.name(), half.silent.at()}));
}

// The member is found in less time than one address had before.
TEST(Dial, AClientFindsAMemberWhoseFirstAddressIsSilent) {
    asio::io_context io;
    const HalfSilentName half{io};
    PlainMember member{io, half.address};
    for (int i = 0; i < 2; ++i) {
        MemberClient client{io};
        std::optional<core::Result<core::Hello>> hello;
        client.connect(half.name(), 5s, [&](auto result) { hello.emplace(std::move(result)); });
        ASSERT_TRUE(run_until(io, [&] { return hello.has_value(); }));
        EXPECT_TRUE(*hello);
    }
}

// A proxy that knows no member behind it takes the connection and ends it.
TEST(Dial, AClientTriesAnotherAddressNextIfOneTakesConnectionsAndIsNoMember) {
    asio::io_context io;
    const auto address = free_address();
    asio::ip::tcp::acceptor proxy{io, endpoint_of("127.0.0.1:0")};
    const std::function<void()> accept = [&] {
        proxy.async_accept([&](asio::error_code error, const asio::ip::tcp::socket&) {
            if (!error) accept();
        });
    };
    accept();
    PlainMember member{io, address};
    asio::use_service<Resolver>(io).look_up_with([&](const HostPort&) {
        return Resolver::Found{{}, {proxy.local_endpoint(), endpoint_of(address)}};
    });
    std::vector<bool> reached;
    for (int i = 0; i < 3; ++i) {
        MemberClient client{io};
        std::optional<core::Result<core::Hello>> hello;
        client.connect("half.example:7400", 5s, [&](auto result) { hello.emplace(result); });
        ASSERT_TRUE(run_until(io, [&] { return hello.has_value(); }));
        reached.push_back(hello->has_value());
    }
    EXPECT_EQ(reached, (std::vector{false, true, true}));
}

TEST(Dial, APeerIsFoundWhoseFirstAddressIsSilent) {
    asio::io_context io;
    const HalfSilentName half{io};
    const auto one_at = free_address();
    Node one{io, 1, {one_at, half.name()}};
    Node two{io, 2, {one_at, half.address}};
    ASSERT_TRUE(one.start());
    ASSERT_TRUE(two.start());
    EXPECT_TRUE(run_until(io, [&] { return one.is_up(2) && two.is_up(1); }));
}

}  // namespace
}  // namespace mortise::transport
