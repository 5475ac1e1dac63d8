// Time limits of holds, and names that stay closed (S8, S9), on a node and on a cluster.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <future>
#include <stop_token>
#include <system_error>
#include <thread>

#include "tests/embed/one_node.hpp"
#include <mortise/testkit/local_cluster.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class Terms : public OneNode {};

TEST_F(Terms, AHoldIsLostAfterItsMaxHold) {  // S8
    const auto asked = Clock::now();
    auto hold = node_.acquire("job", {.max_hold = 200ms});
    EXPECT_LE(hold.remaining(), 200ms);
    hold.set_value("half done");
    ASSERT_TRUE(is_lost(hold));
    EXPECT_GE(Clock::now() - asked, 200ms);
    EXPECT_FALSE(hold.valid());
    EXPECT_EQ(hold.why_lost(), LossReason::expired);
    EXPECT_EQ(hold.failure(), Errc::lock_lost);
    // Its node released it: the next holder need not wait for the session to expire.
    const auto next = node_.acquire("job");
    EXPECT_EQ(next.previous().how, Predecessor::expired);
    EXPECT_TRUE(node_.inspect("job").value->dirty);
}

TEST_F(Terms, TheOtherHoldsOfTheSessionStay) {
    auto other = node_.acquire("other");
    auto hold = node_.acquire("job", {.max_hold = 50ms});
    ASSERT_TRUE(is_lost(hold));
    EXPECT_TRUE(other.valid());
}

// For longer than the time after which another hold is lost.
TEST_F(Terms, AWorkerThatSaysSoKeepsItsHold) {  // S8
    auto hold = node_.acquire("job", {.progress_timeout = 1s});
    hold.set_value("half done");
    const auto silent = node_.acquire("other", {.progress_timeout = 1s});
    do {
        hold.checkpoint();
    } while (!is_lost_within(silent, 10ms));
    EXPECT_TRUE(hold.valid());
    ASSERT_TRUE(is_lost(hold));
    EXPECT_EQ(hold.why_lost(), LossReason::expired);
    hold.checkpoint();
    EXPECT_FALSE(hold.valid());
    EXPECT_EQ(node_.acquire("job").previous().how, Predecessor::expired);
}

TEST_F(Terms, ANameStaysTakenForItsMinHold) {  // S8
    const auto asked = Clock::now();
    EXPECT_FALSE(node_.acquire("cron", {.min_hold = 300ms}).release());
    EXPECT_FALSE(node_.try_acquire("cron").has_value());
    EXPECT_TRUE(node_.inspect("cron").is_closed);
    const auto next = node_.acquire("cron");
    EXPECT_GE(Clock::now() - asked, 300ms);
    EXPECT_EQ(next.previous().how, Predecessor::clean);
}

TEST_F(Terms, ALockDelayFollowsALossAlone) {  // S9
    EXPECT_FALSE(node_.acquire("job", {.lock_delay = 10min}).release());
    auto hold = node_.acquire("job", {.max_hold = 50ms, .lock_delay = 300ms});
    ASSERT_TRUE(is_lost(hold));
    const auto lost = Clock::now();
    const auto next = node_.acquire("job");
    EXPECT_GE(Clock::now() - lost, 290ms);
}

TEST_F(Terms, ABreakOpensWhatIsClosed) {  // S9, S24
    EXPECT_FALSE(node_.acquire("job", {.min_hold = 10min}).release());
    const auto info = node_.inspect("job");
    ASSERT_TRUE(info.is_closed);
    node_.break_lock("job", info.closed_under, "needed now");
    EXPECT_TRUE(node_.try_acquire("job").has_value());
}

// The name is free after a moment, whatever the owner's callback does.
TEST_F(Terms, ACallbackThatHangsKeepsTheNameFromNobody) {  // S6
    const auto asked = Clock::now();
    const auto hold = node_.acquire("job", {.max_hold = 50ms});
    std::promise<void> enough;
    const std::stop_callback on_lost{hold.lost(), [&] { enough.get_future().wait(); }};
    std::error_code ec;
    EXPECT_TRUE(node_.acquire_for("job", patience, ec).has_value()) << ec.message();
    EXPECT_GE(Clock::now() - asked, 150ms);
    EXPECT_EQ(node_.metrics().lost_untold, 1U);
    enough.set_value();
}

// True if the owner of "job" on the one node is notified before the name is granted on the other;
// the notifying thread is kept busy by callbacks for other losses.
bool is_told_before_the_next(Node& one, Node& other) {
    const AcquireOptions options{.max_hold = 300ms};
    std::deque<Hold> holds;
    std::deque<std::stop_callback<void (*)()>> busy;
    for (const auto* name : {"a", "b", "c", "d"}) {
        holds.push_back(one.acquire(name, options));
        busy.emplace_back(holds.back().lost(), [] { std::this_thread::sleep_for(50ms); });
    }
    holds.push_back(one.acquire("job", options));
    std::atomic<bool> told = false;
    const std::stop_callback on_lost{holds.back().lost(), [&] { told = true; }};
    const auto next = other.acquire("job");
    return told;
}

TEST(TermsInACluster, WhoLosesAHoldIsToldBeforeSomebodyElseHasIt) {  // S6, S8, P3
    testkit::LocalCluster cluster{3, testkit::quick_timing()};
    auto& node = cluster.node(0);
    std::uint64_t untold = 0;
    bool told = false;
    do {  // while this machine is too busy
        untold = node.metrics().lost_untold;
        told = is_told_before_the_next(node, cluster.node(1));
    } while (!told && node.metrics().lost_untold != untold);
    EXPECT_TRUE(told);
}

// The cluster ends a hold of a silent node by its max_hold, before the session expires.
TEST(TermsInACluster, AMaxHoldOfASilentNodeEnds) {  // S8, P3
    auto timing = testkit::quick_timing();
    timing.session_ttl = 2 * patience;
    testkit::LocalCluster cluster{3, timing};
    auto hold = cluster.node(0).acquire("job", {.max_hold = 1s});
    hold.confirm();  // a renewal, which also confirms that this node knows its hold
    cluster.isolate(0);
    std::error_code ec;
    auto next = cluster.node(1).acquire_for("job", patience, ec);
    while (!next && is_retryable(ec))  // until the two have a leader
        next = cluster.node(1).acquire_for("job", patience, ec);
    ASSERT_TRUE(next.has_value()) << ec.message();
    EXPECT_FALSE(hold.valid());
    EXPECT_EQ(next->previous().how, Predecessor::expired);
    cluster.heal();
}

}  // namespace
}  // namespace mortise
