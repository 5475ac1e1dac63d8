// Values of locks, and breaks, on a node and on a cluster (S24, S36).
#include <chrono>
#include <future>
#include <string>

#include "tests/embed/one_node.hpp"
#include <mortise/testkit/local_cluster.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;

class Values : public OneNode {};

TEST_F(Values, AreWrittenUnderAHoldAndReadByAnybody) {  // S36
    auto hold = node_.acquire("config");
    EXPECT_EQ(hold.value(), "");
    EXPECT_FALSE(node_.inspect("config").value.has_value());
    hold.set_value("first");
    hold.set_value(std::string_view{"\0two\xff", 5});
    EXPECT_EQ(hold.value(), (std::string{"\0two\xff", 5}));
    EXPECT_FALSE(hold.release());
    const auto info = node_.inspect("config");
    ASSERT_TRUE(info.value.has_value());
    EXPECT_EQ(info.value->version, 2U);
    EXPECT_FALSE(info.value->dirty);
    EXPECT_EQ(node_.acquire("config").value(), (std::string{"\0two\xff", 5}));
}

TEST_F(Values, WithoutAHoldAreRefused) {  // S36
    std::error_code ec;
    Hold empty;
    empty.set_value("x", ec);
    EXPECT_EQ(ec, Errc::not_held);
    EXPECT_EQ(empty.value(ec), "");
    EXPECT_EQ(ec, Errc::not_held);
    AcquireOptions shared;
    shared.mode = LockMode::shared;
    auto reader = node_.acquire("config", shared);
    reader.set_value("x", ec);
    EXPECT_EQ(ec, Errc::invalid_argument);
    EXPECT_EQ(reader.value(ec), "");
    EXPECT_FALSE(ec);
    EXPECT_FALSE(reader.release());
    auto writer = node_.acquire("config");
    writer.set_value(std::string(4'097, 'x'), ec);
    EXPECT_EQ(ec, Errc::invalid_argument);
    EXPECT_NO_THROW(writer.set_value(std::string(4'096, 'x')));
    EXPECT_THROW(empty.consistent(), LockError);
}

class Breaking : public OneNode {};

TEST_F(Breaking, TheHolderReportsThatItWasBroken) {  // S24
    std::promise<NodeEvent> promised;                // would throw at the second time
    const auto subscription = node_.on_event([&](const NodeEvent& event) {
        if (event.kind == NodeEvent::Kind::lock_broken) promised.set_value(event);
    });
    auto hold = node_.acquire("stuck");
    hold.set_value("half");
    const auto token = hold.token();
    node_.break_lock("stuck", token, "does not answer");
    ASSERT_TRUE(is_lost(hold));
    EXPECT_FALSE(hold.valid());
    EXPECT_EQ(hold.state(), HoldState::lost);
    EXPECT_EQ(hold.why_lost(), LossReason::broken);
    EXPECT_EQ(hold.failure(), Errc::lock_lost);
    std::error_code ec;
    hold.set_value("late", ec);
    EXPECT_EQ(ec, Errc::lock_lost);
    EXPECT_EQ(hold.release(), Errc::lock_lost);
    // The node has confirmed the break: the next holder gets it long before any TTL, and learns of
    // the break (S23).
    auto next = node_.acquire("stuck");
    EXPECT_EQ(next.previous().how, Predecessor::broken);
    EXPECT_EQ(next.previous().token, token);
    EXPECT_GT(next.token(), token);
    EXPECT_TRUE(node_.inspect("stuck").value->dirty);
    next.consistent();
    EXPECT_FALSE(node_.inspect("stuck").value->dirty);
    auto event = promised.get_future();
    ASSERT_EQ(event.wait_for(patience), std::future_status::ready);
    const auto told = event.get();
    EXPECT_EQ(told.name, "stuck");
    EXPECT_EQ(told.text, "does not answer");
}

TEST_F(Breaking, AnotherTokenBreaksNothing) {  // S24
    auto hold = node_.acquire("stuck");
    std::error_code ec;
    node_.break_lock("stuck", FencingToken::from_raw(hold.token().raw() + 1), "", ec);
    EXPECT_EQ(ec, Errc::not_held);
    node_.break_lock("nobody's", hold.token(), "", ec);
    EXPECT_EQ(ec, Errc::not_held);
    node_.break_lock("stuck", FencingToken{}, "", ec);
    EXPECT_EQ(ec, Errc::invalid_argument);
    EXPECT_TRUE(hold.valid());
}

TEST_F(Breaking, TheOtherLocksOfTheNodeStay) {  // lock-features 2.22
    auto hold = node_.acquire("stuck");
    auto other = node_.acquire("other");
    node_.break_lock("stuck", hold.token(), "", BreakMode::immediate);
    ASSERT_TRUE(is_lost(hold));
    EXPECT_TRUE(other.valid());
}

// A holder that is cut off cannot confirm: the name stays closed until its last renewal has
// expired.
TEST(BreakingInACluster, AHolderThatIsCutOffIsWaitedFor) {  // S24, P3
    testkit::LocalCluster cluster{3, testkit::quick_timing()};
    auto hold = cluster.node(0).acquire("stuck");
    const auto token = hold.token();
    cluster.isolate(0);
    std::error_code ec;
    const auto give_up = std::chrono::steady_clock::now() + patience;
    do {  // until the two have a leader
        cluster.node(1).break_lock("stuck", token, "cut off", ec);
    } while (ec && ec != Errc::not_held && std::chrono::steady_clock::now() < give_up);
    ASSERT_FALSE(ec) << ec.message();
    auto next = cluster.node(2).acquire("stuck");
    EXPECT_FALSE(hold.valid());
    EXPECT_EQ(next.previous().how, Predecessor::broken);
    EXPECT_GT(next.token(), token);
    cluster.heal();
}

// A restart applies the end of the log again.
TEST(BreakingInACluster, IsNotToldAgainAfterARestart) {
    testkit::LocalCluster cluster{1, testkit::quick_timing()};
    auto hold = cluster.node(0).acquire("stuck");
    cluster.node(0).break_lock("stuck", hold.token(), "hangs");
    EXPECT_EQ(cluster.node(0).metrics().locks_broken, 1U);
    cluster.kill(0);
    cluster.restart(0);
    ASSERT_TRUE(cluster.wait_ready(patience));
    auto next = cluster.node(0).acquire("stuck");
    EXPECT_EQ(cluster.node(0).metrics().locks_broken, 0U);
    cluster.node(0).break_lock("stuck", next.token(), "hangs again");
    EXPECT_EQ(cluster.node(0).metrics().locks_broken, 1U);
}

}  // namespace
}  // namespace mortise
