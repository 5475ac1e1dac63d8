// Several names at once, priorities and policies, as a program sees them (S29, S31, S32).
#include <chrono>
#include <future>
#include <thread>

#include <asio/use_future.hpp>
#include <gtest/gtest.h>

#include "tests/embed/one_node.hpp"
#include <mortise/async.hpp>
#include <mortise/testkit/local_cluster.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;

const std::vector<LockRequest> a_and_b{{"a", LockMode::exclusive}, {"b", LockMode::exclusive}};

template <class T>
bool is_pending(const std::future<T>& future) {
    return future.wait_for(0s) != std::future_status::ready;
}

class SeveralNames : public OneNode {
protected:
    std::error_code ec_;
};

// --- all of them

TEST_F(SeveralNames, S32_AllOfThemHaveATokenEach) {
    auto holds = node_.acquire_all({{"b", LockMode::shared}, {"a", LockMode::exclusive}});
    ASSERT_EQ(holds.size(), 2U);
    EXPECT_TRUE(holds && holds.valid());
    EXPECT_EQ(holds.begin()->name(), "a");
    EXPECT_EQ(holds.find("b")->mode(), LockMode::shared);
    EXPECT_EQ(holds.find("c"), nullptr);
    for (const auto& hold : holds) {
        EXPECT_TRUE(hold.valid());
        EXPECT_EQ(node_.inspect(hold.name()).holders.at(0).token, hold.token());
    }
    EXPECT_NE(holds.find("a")->token(), holds.find("b")->token());
}

// std::string_view takes two pointers for the begin and the end of one text.
TEST_F(SeveralNames, APairOfBracesTooManyMakesNoOtherName) {
    const auto holds = node_.acquire_all({{"accounts/1", "accounts/2"}});
    ASSERT_EQ(holds.size(), 2U);
    EXPECT_EQ(holds.begin()->name(), "accounts/1");
    EXPECT_NE(holds.find("accounts/2"), nullptr);
}

// There is no hold-and-wait, so there are no deadlocks.
TEST_F(SeveralNames, S32_NothingIsHeldWhileItWaits) {
    auto b = node_.acquire("b");
    auto both = async_acquire_all(node_, a_and_b, asio::use_future);
    ASSERT_TRUE(wait_for_waiters("a", 1));
    EXPECT_FALSE(node_.inspect("a").is_held());
    EXPECT_FALSE(node_.try_acquire("a"));  // no request overtakes it either
    EXPECT_TRUE(is_pending(both));
    EXPECT_FALSE(b.release());
    EXPECT_TRUE(both.get().valid());
}

// Redisson 467, 1160, 4050: names that are acquired one after the other cause a deadlock.
TEST_F(SeveralNames, S32_OppositeOrdersGetAlong) {
    int in_both = 0;
    const auto work = [&](const char* first, const char* second) {
        for (int i = 0; i < 100; ++i) {
            const auto holds = node_.acquire_all({first, second});
            ++in_both;  // a data race unless they exclude each other
        }
    };
    auto other = std::async(std::launch::async, [&] { work("b", "a"); });
    work("a", "b");
    other.get();
    EXPECT_EQ(in_both, 200);
}

TEST_F(SeveralNames, S32_TheyAreReleasedTogether) {
    auto holds = node_.acquire_all(a_and_b);
    const auto commands = node_.metrics().released;
    EXPECT_FALSE(holds.release());
    EXPECT_EQ(node_.metrics().released, commands + 1);
    EXPECT_FALSE(holds || holds.valid());
    for (const auto& hold : holds)
        EXPECT_EQ(hold.state(), HoldState::released);
    EXPECT_EQ(holds.release(), Errc::not_held);
    EXPECT_TRUE(node_.try_acquire("a"));
    holds = node_.acquire_all(a_and_b);
    holds = node_.acquire_all({"c", "d"});  // the previous ones are released
    EXPECT_TRUE(node_.try_acquire("a") && node_.try_acquire("b"));
    { const auto moved = std::move(holds); }
    EXPECT_TRUE(node_.try_acquire("c") && node_.try_acquire("d"));
}

TEST_F(SeveralNames, S32_WhatNoClusterWouldTakeIsRefused) {
    const auto refused = [&](const LockRequests& names, const AcquireOptions& options = {}) {
        std::error_code all;
        std::error_code any;
        std::ignore = node_.acquire_all(names, options, all);
        std::ignore = node_.acquire_any(names, options, any);
        return all == Errc::invalid_argument && any == Errc::invalid_argument;
    };
    EXPECT_TRUE(refused({}));
    EXPECT_TRUE(refused({{"a", LockMode::shared}, {"a", LockMode::exclusive}}));
    EXPECT_TRUE(refused({"a", ""}));
    EXPECT_TRUE(refused({"a", "b"}, {.priority = 8}));
    std::vector<LockRequest> many;
    for (int i = 0; i < 64; ++i)
        many.push_back({std::to_string(i)});
    many.push_back({"0"});  // counts once
    EXPECT_EQ(node_.acquire_all(many).size(), 64U);
    many.push_back({"64"});
    EXPECT_TRUE(refused(many));
    std::ignore = node_.acquire_all({"a", "b"}, {.priority = 1}, ec_);
    EXPECT_EQ(ec_, Errc::invalid_argument);  // a request for all of no names
}

TEST_F(SeveralNames, S32_NamesThatAreThereTwiceCountOnce) {
    EXPECT_EQ(node_.acquire_all({"a", "b", "a"}).size(), 2U);
    EXPECT_EQ(node_.acquire_any({"a", "a"}).name(), "a");
}

TEST_F(SeveralNames, S18_WhatIsGivenUpHoldsNothing) {
    auto b = node_.acquire("b");
    std::ignore = node_.acquire_all(a_and_b, {.wait_max = 20ms}, ec_);
    EXPECT_EQ(ec_, Errc::timed_out);
    EXPECT_THROW(std::ignore = node_.acquire_all(a_and_b, {.wait_max = 0ms}), LockError);
    std::stop_source stop;
    auto waiting = std::async(std::launch::async, [&, token = stop.get_token()] {
        std::error_code ec;
        std::ignore = node_.acquire_all(a_and_b, {.cancel = token}, ec);
        return ec;
    });
    ASSERT_TRUE(wait_for_waiters("a", 1));
    stop.request_stop();
    EXPECT_EQ(waiting.get(), Errc::cancelled);
    EXPECT_TRUE(node_.acquire_for("a", patience));
    b.unlock();
    EXPECT_TRUE(node_.acquire_for("b", patience));
}

TEST_F(SeveralNames, TheyAreLostTogether) {
    auto holds = node_.acquire_all(a_and_b);
    const auto lost = holds.lost();
    node_.close();
    EXPECT_TRUE(lost.stop_requested());
    EXPECT_EQ(holds.why_lost(), LossReason::node_stopped);
    for (const auto& hold : holds) {
        EXPECT_TRUE(hold.lost().stop_requested());
        EXPECT_EQ(hold.state(), HoldState::lost);
    }
    EXPECT_EQ(holds.failure(), Errc::node_stopped);
    EXPECT_THROW(holds.check(), LockError);
}

// S24: one of them is broken, and the others are released.
TEST_F(SeveralNames, IsLostWithTheFirst) {
    const auto holds = node_.acquire_all(a_and_b);
    const auto lost = holds.lost();
    node_.break_lock("a", holds.find("a")->token(), "stuck", BreakMode::immediate);
    ASSERT_TRUE(is_lost(*holds.find("b")));
    EXPECT_TRUE(lost.stop_requested());
    EXPECT_FALSE(holds.valid());
    EXPECT_EQ(holds.state(), HoldState::lost);
    EXPECT_EQ(holds.why_lost(), LossReason::broken);
    EXPECT_TRUE(node_.acquire_for("b", patience));
}

TEST_F(SeveralNames, ALossIsReportedOfEach) {
    std::vector<std::string> lost;
    {
        const auto subscription = node_.on_event([&](const NodeEvent& event) {
            if (event.kind == NodeEvent::Kind::hold_lost) lost.push_back(event.name);
        });
        const auto holds = node_.acquire_all(a_and_b);
        node_.close();
    }
    EXPECT_EQ(lost, (std::vector<std::string>{"a", "b"}));
}

TEST_F(SeveralNames, AnEmptySetAnswersEverything) {
    HoldSet none;
    EXPECT_FALSE(none || none.valid());
    EXPECT_TRUE(none.empty());
    EXPECT_EQ(none.failure(), Errc::not_held);
    EXPECT_EQ(none.release(), Errc::not_held);
    EXPECT_FALSE(none.lost().stop_possible());
    none.unlock();
}

// --- any of them

TEST_F(SeveralNames, S32_AnyIsTheFirstFreeOneInTheOrderGiven) {
    const auto c = node_.acquire("c");
    const auto got = node_.try_acquire_any({"c", "b", "a"});
    ASSERT_TRUE(got);
    EXPECT_EQ(got->name(), "b");
    EXPECT_TRUE(got->valid());
    EXPECT_EQ(node_.acquire_any({"c", "b", "a"}).name(), "a");
}

TEST_F(SeveralNames, S20_ABusyAnyIsAnAnswerAndLeavesNothingBehind) {
    const auto holds = node_.acquire_all(a_and_b);
    EXPECT_FALSE(node_.try_acquire_any({"a", "b"}));
    EXPECT_FALSE(node_.try_acquire_any({"a", "b"}, ec_));
    EXPECT_FALSE(ec_);
    EXPECT_TRUE(node_.inspect("a").waiters.empty());
    std::ignore = node_.try_acquire_any({"a"}, {.wait_max = 1s}, ec_);
    EXPECT_EQ(ec_, Errc::invalid_argument);
}

TEST_F(SeveralNames, S32_AnyWaitsForTheOneThatIsFreeFirst) {
    const auto a = node_.acquire("a");
    auto b = node_.acquire("b");
    auto any = async_acquire_any(node_, a_and_b, asio::use_future);
    ASSERT_TRUE(wait_for_waiters("b", 1));
    b.unlock();
    auto hold = any.get();
    EXPECT_EQ(hold.name(), "b");
    EXPECT_TRUE(node_.inspect("a").waiters.empty());
    hold.downgrade(LockMode::shared);  // it is a hold like any other
    EXPECT_TRUE(node_.try_acquire("b", {.mode = LockMode::shared}));
}

// --- asynchronously

TEST_F(SeveralNames, AFutureGetsThem) {
    const AcquireOptions options{.label = "me"};
    std::future<HoldSet> all = async_acquire_all(node_, a_and_b, options, asio::use_future);
    const auto holds = all.get();
    EXPECT_EQ(holds.size(), 2U);
    EXPECT_EQ(node_.inspect("b").holders.at(0).label, "me");
    std::future<Hold> any = async_acquire_any(node_, a_and_b, {.wait_max = 10ms}, asio::use_future);
    EXPECT_THROW(std::ignore = any.get(), std::system_error);
}

TEST_F(SeveralNames, NobodyWaitsForThemWhenTheNodeCloses) {
    const auto a = node_.acquire("a");
    std::promise<std::error_code> told;
    async_acquire_all(node_, a_and_b, [&](std::error_code ec, const HoldSet& holds) {
        EXPECT_TRUE(holds.empty());
        told.set_value(ec);
    });
    ASSERT_TRUE(wait_for_waiters("a", 1));
    node_.close();
    EXPECT_EQ(told.get_future().get(), Errc::node_stopped);
}

// --- priorities and policies

TEST_F(SeveralNames, S29_TheHigherPriorityGoesFirst) {
    auto holder = node_.acquire("x");
    auto low = async_acquire(node_, "x", asio::use_future);
    ASSERT_TRUE(wait_for_waiters("x", 1));
    auto high = async_acquire(node_, "x", {.priority = 3}, asio::use_future);
    ASSERT_TRUE(wait_for_waiters("x", 2));
    holder.unlock();
    auto first = high.get();
    EXPECT_TRUE(is_pending(low));
    first.unlock();
    EXPECT_TRUE(low.get().valid());
    for (const int wrong : {-1, 8}) {
        std::ignore = node_.acquire("x", {.priority = wrong}, ec_);
        EXPECT_EQ(ec_, Errc::invalid_argument);
    }
}

TEST_F(SeveralNames, S31_APolicyBelongsToTheName) {
    for (const auto policy : {QueuePolicy::fifo, QueuePolicy::prefer_readers,
                              QueuePolicy::prefer_writers, QueuePolicy::phase_fair}) {
        const auto name = std::string{to_string(policy)};
        const auto holds = node_.acquire_all({name}, {.queue_policy = policy});
        EXPECT_EQ(node_.inspect(name).policy, policy);
        const auto other =
            policy == QueuePolicy::fifo ? QueuePolicy::phase_fair : QueuePolicy::fifo;
        std::ignore = node_.try_acquire(name, {.queue_policy = other}, ec_);
        EXPECT_EQ(ec_, Errc::kind_mismatch);
        std::ignore = node_.acquire_all({name}, {.queue_policy = other}, ec_);
        EXPECT_EQ(ec_, Errc::kind_mismatch);
    }
}

TEST_F(SeveralNames, S31_PreferredReadersPassAWriterThatWaits) {
    const AcquireOptions reading{.mode = LockMode::shared,
                                 .queue_policy = QueuePolicy::prefer_readers};
    const auto reader = node_.acquire("x", reading);
    auto writer = async_acquire(node_, "x", asio::use_future);
    ASSERT_TRUE(wait_for_waiters("x", 1));
    EXPECT_TRUE(node_.try_acquire("x", reading));
    EXPECT_TRUE(is_pending(writer));
}

// --- a cluster

TEST(SeveralNamesOfACluster, WhatADeadNodeHeldIsHadTogether) {
    testkit::LocalCluster cluster{3, testkit::quick_timing()};
    const auto leader = cluster.leader().value_or(0);
    const auto other = (leader + 1) % 3;
    const auto third = (leader + 2) % 3;
    auto holds = cluster.node(other).acquire_all(a_and_b);
    const auto newest = holds.find("b")->token();
    auto next = async_acquire_all(cluster.node(third), a_and_b, asio::use_future);
    cluster.kill(other);
    EXPECT_FALSE(holds.valid());
    const auto mine = next.get();
    EXPECT_EQ(mine.size(), 2U);
    EXPECT_GT(mine.find("a")->token(), newest);
    for (const auto& hold : mine)
        EXPECT_EQ(hold.previous().how, Predecessor::expired);  // S23
}

}  // namespace
}  // namespace mortise
