// Bounds on holds, and names that stay taken (S8, S9), on a node and on a cluster.
#include <chrono>

#include "tests/embed/one_node.hpp"
#include <mortise/testing/local_cluster.hpp>

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
    // Its node gave it back: nobody waits for a session to run out.
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

// For longer than another one has his.
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

// The cluster frees what a silent node holds by its max_hold, before the session runs out.
TEST(TermsInACluster, AMaxHoldOfASilentNodeEnds) {  // S8
    auto timing = testing::quick_timing();
    timing.session_ttl = 2 * patience;
    testing::LocalCluster cluster{3, timing};
    auto hold = cluster.node(0).acquire("job", {.max_hold = 1s});
    hold.confirm();  // a renewal, and with it the word that this node knows of its hold
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
