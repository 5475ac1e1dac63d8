#include "transport/sockets/resolver.hpp"

#include <condition_variable>
#include <mutex>

#include <gtest/gtest.h>

#include "tests/unit/transport/network_support.hpp"
#include "transport/clients/member_client.hpp"
#include "transport/sockets/dial.hpp"

namespace mortise::transport {
namespace {

using namespace test;

// A name server that answers when the test allows it.
class NameServer {
public:
    Resolver::LookUp look_up() {
        return [this](const HostPort& at) {
            std::unique_lock lock{mutex_};
            ++asked_;
            changed_.notify_all();
            changed_.wait(lock, [&] { return answers_; });
            ++answered_;
            changed_.notify_all();
            return at.host == "here" ? Resolver::Found{{}, {endpoint_of("127.0.0.1:" + at.port)}}
                                     : Resolver::Found{asio::error::host_not_found, {}};
        };
    }
    void answer() {
        const std::lock_guard lock{mutex_};
        answers_ = true;
        changed_.notify_all();
    }
    void wait_until_asked() {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return asked_ > 0; });
    }
    // No lookup is in progress any more.
    void wait_until_all_are_answered() {
        answer();
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return answered_ == asked_; });
    }
    std::size_t asked() {
        const std::lock_guard lock{mutex_};
        return asked_;
    }
    std::size_t answered() {
        const std::lock_guard lock{mutex_};
        return answered_;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::size_t asked_ = 0;
    std::size_t answered_ = 0;
    bool answers_ = false;
};

class ResolverTest : public testing::Test {
protected:
    ~ResolverTest() override { server_.wait_until_all_are_answered(); }

    NameServer server_;
};

TEST_F(ResolverTest, FindsThisMachine) {
    asio::io_context io;
    std::optional<Resolver::Found> found;
    asio::use_service<Resolver>(io).resolve({"localhost", "7400"},
                                            [&](const auto& answer) { found = answer; });
    EXPECT_FALSE(found);
    ASSERT_TRUE(run_until(io, [&] { return found.has_value(); }));
    EXPECT_FALSE(found->error);
    ASSERT_FALSE(found->endpoints.empty());
    EXPECT_TRUE(found->endpoints[0].address().is_loopback());
    EXPECT_EQ(found->endpoints[0].port(), 7400);
}

TEST_F(ResolverTest, AsksForAnAddressOnceAtATime) {
    asio::io_context io;
    auto& resolver = asio::use_service<Resolver>(io);
    resolver.look_up_with(server_.look_up());
    int told = 0;
    for (int i = 0; i < 3; ++i)
        resolver.resolve({"here", "7400"}, [&](const auto& found) {
            EXPECT_FALSE(found.error);
            ++told;
        });
    server_.answer();
    ASSERT_TRUE(run_until(io, [&] { return told == 3; }));
    EXPECT_EQ(server_.asked(), 1U);
    resolver.resolve({"here", "7400"}, [&](const auto&) { ++told; });
    ASSERT_TRUE(run_until(io, [&] { return told == 4; }));
    EXPECT_EQ(server_.asked(), 2U);
}

// It would hang for ever if any code waited for the name server.
TEST_F(ResolverTest, NobodyWaitsForASlowNameServer) {
    {
        asio::io_context io;
        asio::use_service<Resolver>(io).look_up_with(server_.look_up());
        Node node{io, 1, {free_address(), "slow.example:7400"}};
        ASSERT_TRUE(node.start());
        MemberClient client{io};
        std::optional<core::Result<core::Hello>> answer;
        client.connect("slower.example:7400", 50ms, [&](auto hello) { answer = std::move(hello); });
        ASSERT_TRUE(run_until(io, [&] { return answer.has_value(); }));
        EXPECT_EQ(answer->error().code, std::errc::timed_out);
        server_.wait_until_asked();
    }
    EXPECT_EQ(server_.answered(), 0U);
}

TEST_F(ResolverTest, APeerIsFoundAgainWhereItWasWithoutItsNameServer) {
    asio::io_context io;
    asio::use_service<Resolver>(io).look_up_with(server_.look_up());
    server_.answer();
    std::vector<std::string> addresses{free_address(), "127.0.0.1:0"};
    auto two = std::make_unique<Node>(io, 2, addresses);
    ASSERT_TRUE(two->network->listen());
    const auto at = two->network->listening_at();
    two->network->start();
    const auto named = "here:" + parse_address(at)->port;
    Node one{io, 1, {addresses[0], named}};
    ASSERT_TRUE(one.start());
    ASSERT_TRUE(run_until(io, [&] { return one.is_up(2) && two->is_up(1); }));
    asio::use_service<Resolver>(io).look_up_with([](const HostPort&) {
        return Resolver::Found{asio::error::host_not_found, {}};
    });
    two.reset();
    ASSERT_TRUE(run_until(io, [&] { return !one.is_up(2); }));
    addresses[1] = at;
    two = std::make_unique<Node>(io, 2, addresses, [](NetworkOptions&, core::Hello& hello) {
        hello.generation.boot_epoch = core::BootEpoch{2};
    });
    ASSERT_TRUE(two->start());
    EXPECT_TRUE(run_until(io, [&] { return one.is_up(2) && two->is_up(1); }));
}

}  // namespace
}  // namespace mortise::transport
