#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mortise/testkit/link_proxy.hpp>

namespace mortise::testkit {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;

// A server behind a link, and callers that connect through it.
class LinkProxyTest : public ::testing::Test {
protected:
    LinkProxyTest() { proxy_.set_target(link_, "127.0.0.1:" + port_of(server_)); }

    static std::string port_of(const tcp::acceptor& acceptor) {
        return std::to_string(acceptor.local_endpoint().port());
    }
    tcp::socket call() {
        const auto address = proxy_.address(link_);
        const auto port = std::stoi(address.substr(address.rfind(':') + 1));
        tcp::socket socket{io_};
        socket.connect({asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port)});
        return socket;
    }
    struct Pair {
        tcp::socket caller;
        tcp::socket called;
    };
    // Both ends of a connection that has carried a byte.
    Pair connected() {
        Pair pair{call(), server_.accept()};
        say(pair.caller, "a");
        EXPECT_EQ(hear(pair.called, 1), "a");
        return pair;
    }
    static void say(tcp::socket& socket, const std::string& text) {
        asio::write(socket, asio::buffer(text));
    }
    static std::string hear(tcp::socket& socket, std::size_t size) {
        std::string text(size, '\0');
        asio::read(socket, asio::buffer(text));
        return text;
    }
    // The error of the next read.
    static asio::error_code end_of(tcp::socket& socket) {
        std::array<char, 1> buffer{};
        asio::error_code ec;
        socket.read_some(asio::buffer(buffer), ec);
        return ec;
    }
    void wait_for_dropped(std::uint64_t bytes) {
        while (proxy_.counters(link_).bytes_dropped < bytes)
            std::this_thread::sleep_for(1ms);
    }

    asio::io_context io_;
    tcp::acceptor server_{io_, tcp::endpoint{asio::ip::address_v4::loopback(), 0}};
    LinkProxy proxy_;
    LinkProxy::Link link_ = proxy_.add_link();
};

TEST_F(LinkProxyTest, CarriesBytesBothWays) {
    auto caller = call();
    auto called = server_.accept();
    say(caller, "ping");
    EXPECT_EQ(hear(called, 4), "ping");
    say(called, "pong!");
    EXPECT_EQ(hear(caller, 5), "pong!");
    // The counters are updated a moment after the bytes arrive.
    auto counters = proxy_.counters(link_);
    for (int i = 0; i < 1000 && counters.bytes_passed < 9; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
        counters = proxy_.counters(link_);
    }
    EXPECT_EQ(counters.connections, 1U);
    EXPECT_EQ(counters.bytes_passed, 9U);
    EXPECT_EQ(counters.bytes_dropped, 0U);
}

TEST_F(LinkProxyTest, PassesALotOfDataWhole) {
    auto caller = call();
    auto called = server_.accept();
    std::string much(5'000'000, 'x');
    for (std::size_t i = 0; i < much.size(); i += 997)
        much[i] = static_cast<char>('a' + i % 26);
    std::thread writer{[&] { say(caller, much); }};
    EXPECT_EQ(hear(called, much.size()) == much, true);
    writer.join();
}

TEST_F(LinkProxyTest, PassesTheEndOnAfterTheLastByte) {
    auto caller = call();
    auto called = server_.accept();
    say(caller, "last words");
    caller.close();
    EXPECT_EQ(hear(called, 10), "last words");
    EXPECT_EQ(end_of(called), asio::error::eof);
}

TEST_F(LinkProxyTest, DroppedBytesVanishAndNobodyIsTold) {
    auto [caller, called] = connected();
    proxy_.set_mode(link_, LinkMode::drop);
    say(caller, "never");
    wait_for_dropped(5);
    called.non_blocking(true);
    EXPECT_EQ(end_of(called), asio::error::would_block);
    caller.close();
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(end_of(called), asio::error::would_block);
}

TEST_F(LinkProxyTest, AConnectionThatLostBytesIsResetWhenTheLinkPassesAgain) {
    auto [caller, called] = connected();
    proxy_.set_mode(link_, LinkMode::drop);
    say(caller, "lost");
    wait_for_dropped(4);
    proxy_.set_mode(link_, LinkMode::pass);
    EXPECT_EQ(end_of(called), asio::error::connection_reset);
    EXPECT_EQ(end_of(caller), asio::error::connection_reset);
}

TEST_F(LinkProxyTest, AConnectionThatWasSilentMeanwhileGoesOn) {
    auto [caller, called] = connected();
    proxy_.set_mode(link_, LinkMode::drop);
    proxy_.set_mode(link_, LinkMode::pass);
    say(caller, "b");
    EXPECT_EQ(hear(called, 1), "b");
}

TEST_F(LinkProxyTest, ANewConnectionThroughADroppingLinkOpensAndStaysSilent) {
    proxy_.set_mode(link_, LinkMode::drop);
    auto caller = call();
    say(caller, "hello");
    std::this_thread::sleep_for(20ms);
    server_.non_blocking(true);
    asio::error_code nobody;
    server_.accept(nobody);
    EXPECT_EQ(nobody, asio::error::would_block);
    proxy_.set_mode(link_, LinkMode::pass);
    EXPECT_EQ(end_of(caller), asio::error::connection_reset);
}

TEST_F(LinkProxyTest, ARefusingLinkResetsOldAndNewConnections) {
    auto [caller, called] = connected();
    proxy_.set_mode(link_, LinkMode::refuse);
    EXPECT_EQ(end_of(caller), asio::error::connection_reset);
    auto late = call();
    EXPECT_EQ(end_of(late), asio::error::connection_reset);
}

TEST_F(LinkProxyTest, ATargetThatIsNotThereEndsTheConnection) {
    server_.close();
    auto caller = call();
    EXPECT_EQ(end_of(caller), asio::error::connection_reset);
}

TEST_F(LinkProxyTest, ANewTargetCountsForConnectionsFromThenOn) {
    tcp::acceptor other{io_, tcp::endpoint{asio::ip::address_v4::loopback(), 0}};
    auto first = call();
    auto first_called = server_.accept();
    proxy_.set_target(link_, "127.0.0.1:" + port_of(other));
    auto second = call();
    auto second_called = other.accept();
    say(first, "1");
    say(second, "2");
    EXPECT_EQ(hear(first_called, 1), "1");
    EXPECT_EQ(hear(second_called, 1), "2");
}

TEST_F(LinkProxyTest, LinksAreIndependent) {
    const auto other = proxy_.add_link();
    EXPECT_NE(proxy_.address(other), proxy_.address(link_));
    proxy_.set_mode(other, LinkMode::refuse);
    connected();
}

TEST_F(LinkProxyTest, AMalformedTargetIsRefused) {
    EXPECT_THROW(proxy_.set_target(link_, "nonsense"), std::system_error);
    EXPECT_THROW(proxy_.set_target(link_, "127.0.0.1:"), std::system_error);
}

TEST_F(LinkProxyTest, EndsInTheMiddleOfTraffic) {
    std::optional<LinkProxy> proxy{std::in_place};
    const auto link = proxy->add_link();
    proxy->set_target(link, "127.0.0.1:" + port_of(server_));
    const auto address = proxy->address(link);
    tcp::socket caller{io_};
    caller.connect({asio::ip::address_v4::loopback(),
                    static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)))});
    auto called = server_.accept();
    std::thread writer{[&caller] {
        const std::string text(1000, 'x');
        asio::error_code ec;
        while (!ec)
            asio::write(caller, asio::buffer(text), ec);
    }};
    EXPECT_EQ(hear(called, 10'000).size(), 10'000U);
    proxy.reset();
    writer.join();
}

}  // namespace
}  // namespace mortise::testkit
