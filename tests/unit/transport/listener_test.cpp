#include "transport/sockets/listener.hpp"

#include <asio/io_context.hpp>
#include <gtest/gtest.h>

#include "tests/unit/transport/network_support.hpp"

namespace mortise::transport {
namespace {

using namespace test;

class ListenerTest : public testing::Test {
protected:
    core::Result<void> open(const std::string& address, Reach reach = Reach::loopback) {
        listener_ = std::make_unique<Listener>(io_, limits_, counters_, log_);
        return listener_->open(address, reach);
    }
    [[nodiscard]] bool answers(const std::string& host) {
        const auto at = parse_address(listener_->at());
        asio::ip::tcp::socket socket{io_};
        asio::error_code error;
        socket.connect(
            {asio::ip::make_address(host), static_cast<std::uint16_t>(std::stoul(at->port))},
            error);
        return !error;
    }

    asio::io_context io_;
    NetworkLimits limits_;
    NetworkCounters counters_;
    std::string said_;
    Log log_ = [this](LogLevel, std::string text) { said_ += text + "\n"; };
    std::unique_ptr<Listener> listener_;
};

TEST_F(ListenerTest, TakesEveryAddressOfAName) {
    ASSERT_TRUE(open("localhost:0"));
    EXPECT_TRUE(listener_->is_local());
    EXPECT_TRUE(answers("127.0.0.1")) << said_;
    EXPECT_NE(said_.find("listens on"), std::string::npos);
    // Not every machine maps the name to ::1, or has it.
    const bool has_v6 = said_.find("[::1]") != std::string::npos;
    EXPECT_EQ(answers("::1"), has_v6) << said_;
}

// The address decides, not the name: 0.0.0.0 is every address of this machine.
TEST_F(ListenerTest, RefusesAnAddressThatOthersReachWhereOnlyLoopbackIsAllowed) {
    for (const auto* address : {"0.0.0.0:0", "[::]:0", ":0"}) {
        const auto opened = open(address);
        ASSERT_FALSE(opened) << address;
        EXPECT_NE(opened.error().what.find("tls.insecure"), std::string::npos)
            << opened.error().what;
    }
    EXPECT_TRUE(open("0.0.0.0:0", Reach::anywhere));
    EXPECT_FALSE(listener_->is_local());
}

TEST_F(ListenerTest, TakesBothFamiliesOnOnePort) {
    ASSERT_TRUE(open(":0", Reach::anywhere));
    EXPECT_TRUE(answers("127.0.0.1")) << said_;
}

TEST_F(ListenerTest, SaysWhichAddressItCannotHave) {
    ASSERT_TRUE(open("127.0.0.1:0"));
    Listener second{io_, limits_, counters_, log_};
    const auto opened = second.open(listener_->at(), Reach::loopback);
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().what.find(listener_->at()), std::string::npos);
    EXPECT_FALSE(open("192.0.2.1:0", Reach::anywhere));  // not an address of this machine
}

}  // namespace
}  // namespace mortise::transport
