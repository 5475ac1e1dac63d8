// Latches on a node and on a cluster (S35, S37).
#include <chrono>
#include <future>
#include <string>
#include <system_error>
#include <vector>

#include "tests/embed/one_node.hpp"
#include <mortise/testkit/local_cluster.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;

class Latches : public OneNode {
protected:
    [[nodiscard]] Latch ready(std::ptrdiff_t expected = 2) { return {node_, "ready", expected}; }
};

TEST_F(Latches, S35_WhoWaitsPassesWhenAllIsCounted) {
    auto latch = ready();
    EXPECT_FALSE(latch.try_wait());
    EXPECT_FALSE(node_.inspect("ready").is_used()) << "a look creates nothing";
    auto waits = std::async(std::launch::async, [&] { latch.wait({.label = "worker"}); });
    ASSERT_TRUE(wait_for_waiters("ready", 1));
    const auto info = node_.inspect("ready");
    EXPECT_EQ(info.waiters.at(0).label, "worker");
    EXPECT_EQ(info.latch, LatchCount{2});
    EXPECT_TRUE(info.is_used());
    latch.count_down();
    EXPECT_FALSE(latch.try_wait());
    EXPECT_FALSE(latch.wait_for(20ms));
    latch.count_down();
    waits.get();
    EXPECT_TRUE(latch.try_wait());
    EXPECT_TRUE(latch.try_wait(ReadLevel::local));
    latch.wait();
    EXPECT_TRUE(latch.wait_for(0ms));
    EXPECT_TRUE(latch.wait_until(std::chrono::steady_clock::now() + 1s));
    EXPECT_FALSE(node_.inspect("ready").is_held());
}

TEST_F(Latches, S35_AWaitWithoutTimeAsksOnce) {
    auto latch = ready(1);
    for (const auto time : {0ms, -1ms}) {
        std::error_code ec;
        latch.wait({.wait_max = time}, ec);
        EXPECT_EQ(ec, Errc::timed_out);
        EXPECT_EQ(thrown_by([&] { latch.wait({.wait_max = time}); }), Errc::timed_out);
    }
    latch.count_down();
    for (const auto time : {0ms, -1ms})
        latch.wait({.wait_max = time});
}

TEST_F(Latches, S35_MoreThanRemainsIsNotCounted) {
    auto latch = ready();
    EXPECT_EQ(thrown_by([&] { latch.count_down(3); }), Errc::invalid_argument);
    latch.count_down(2);
    std::error_code ec;
    latch.count_down(ec);
    EXPECT_EQ(ec, Errc::invalid_argument);
    latch.count_down(0, ec);
    EXPECT_FALSE(ec);
    EXPECT_EQ(node_.inspect("ready").latch, LatchCount{0});
}

TEST_F(Latches, OfNothingIsOpen) {
    auto latch = ready(0);
    EXPECT_TRUE(latch.try_wait());
    latch.wait();
}

TEST_F(Latches, BadArgumentsAreRefused) {
    EXPECT_EQ(thrown_by([&] { (void)ready(-1); }), Errc::invalid_argument);
    EXPECT_EQ(thrown_by([&] { (void)ready(Latch::max() + 1); }), Errc::invalid_argument);
    EXPECT_EQ(thrown_by([&] { Latch(node_, std::string(513, 'a'), 1); }), Errc::invalid_argument);
    auto latch = ready(Latch::max());
    EXPECT_EQ(thrown_by([&] { latch.count_down(-1); }), Errc::invalid_argument);
    EXPECT_EQ(thrown_by([&] { latch.count_down(Latch::max() + 1); }), Errc::invalid_argument);
    EXPECT_EQ(thrown_by([&] { latch.wait({.label = std::string(257, 'a')}); }),
              Errc::invalid_argument);
    EXPECT_FALSE(node_.inspect("ready").is_used());
    latch.count_down(Latch::max());
    EXPECT_TRUE(latch.try_wait());
}

TEST_F(Latches, S18_AWaitEndsByItsTimeOrACancel) {
    const auto latch = ready();
    EXPECT_EQ(thrown_by([&] { latch.wait({.wait_max = 20ms}); }), Errc::timed_out);
    std::error_code ec;
    EXPECT_FALSE(latch.wait_for(20ms, ec));
    EXPECT_FALSE(ec);
    std::stop_source stop;
    WaitOptions options;
    options.cancel = stop.get_token();
    auto waits = std::async(std::launch::async, [&] { latch.wait(options, ec); });
    ASSERT_TRUE(wait_for_waiters("ready", 1));
    stop.request_stop();
    waits.get();
    EXPECT_EQ(ec, Errc::cancelled);
    EXPECT_TRUE(wait_for_waiters("ready", 0));
    EXPECT_EQ(thrown_by([&] { latch.wait(options); }), Errc::cancelled);
}

TEST_F(Latches, S37_StaysUntilItIsRemoved) {
    ready().count_down(2);
    EXPECT_EQ(thrown_by([&] { (void)node_.acquire("ready"); }), Errc::kind_mismatch);
    EXPECT_EQ(thrown_by([&] { (void)Semaphore(node_, "ready", 1).limit(); }), Errc::kind_mismatch);
    node_.remove("ready");
    EXPECT_FALSE(ready().try_wait());
    const auto hold = node_.acquire("ready");
    std::error_code ec;
    EXPECT_FALSE(ready().try_wait(ec));
    EXPECT_EQ(ec, Errc::kind_mismatch);
    EXPECT_EQ(thrown_by([&] { ready().count_down(); }), Errc::kind_mismatch);
    EXPECT_EQ(thrown_by([&] { ready().wait(); }), Errc::kind_mismatch);
}

TEST_F(Latches, ArriveAndWaitMeetsTheOthers) {
    auto latch = ready(3);
    auto two = std::async(std::launch::async, [&] { latch.arrive_and_wait(2); });
    ASSERT_TRUE(wait_for_waiters("ready", 1));
    latch.arrive_and_wait();
    two.get();
    std::error_code ec;
    latch.arrive_and_wait(ec);
    EXPECT_EQ(ec, Errc::invalid_argument) << "one too many";
}

TEST_F(Latches, AClosedNodeEndsTheWait) {
    auto latch = ready();
    std::error_code ec;
    auto waits = std::async(std::launch::async, [&] { latch.wait(ec); });
    ASSERT_TRUE(wait_for_waiters("ready", 1));
    node_.close();
    waits.get();
    EXPECT_EQ(ec, Errc::node_stopped);
    EXPECT_EQ(thrown_by([&] { latch.count_down(); }), Errc::node_stopped);
    EXPECT_EQ(thrown_by([&] { (void)latch.try_wait(); }), Errc::node_stopped);
}

TEST(LatchOnThreeNodes, ACountSurvivesItsProcess) {  // S35, P2
    mortise::testkit::LocalCluster cluster{3, mortise::testkit::quick_timing()};
    const auto ready_of = [&](std::size_t index) { return Latch{cluster.node(index), "ready", 2}; };
    const auto dies = cluster.leader().value_or(0);
    const auto other = ready_of((dies + 1) % 3);
    auto last = ready_of((dies + 2) % 3);
    auto waits = std::async(std::launch::async, [&] { other.wait(); });
    ready_of(dies).count_down();
    cluster.kill(dies);
    std::error_code ec;
    EXPECT_FALSE(last.wait_for(20ms, ec));
    last.count_down();
    waits.get();
    EXPECT_TRUE(last.try_wait());
}

TEST(LatchOnThreeNodes, AllNodesCountOnce) {
    mortise::testkit::LocalCluster cluster{3};
    constexpr int each = 20;
    const auto counts = [](Latch latch) {
        for (int i = 0; i < each - 1; ++i)
            latch.count_down();
        latch.arrive_and_wait();
    };
    std::vector<std::future<void>> all;
    for (std::size_t i = 0; i < 3; ++i)
        all.push_back(
            std::async(std::launch::async, counts, Latch{cluster.node(i), "ready", 3 * each}));
    for (auto& one : all)
        one.get();
    EXPECT_EQ(cluster.node(0).inspect("ready").latch, LatchCount{0});
}

}  // namespace
}  // namespace mortise
