// Barriers on a node and on a cluster (S35, S37).
#include <atomic>
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

class Barriers : public OneNode {
protected:
    [[nodiscard]] Barrier step(std::ptrdiff_t parties = 2) { return {node_, "step", parties}; }
};

TEST_F(Barriers, S35_NobodyIsAPhaseAhead) {
    constexpr int parties = 4;
    constexpr int phases = 10;
    std::atomic<int> arrived{0};
    const auto party = [&](Barrier barrier) {
        int early = 0;
        for (int phase = 1; phase <= phases; ++phase) {
            ++arrived;
            barrier.arrive_and_wait();
            early += arrived < phase * parties ? 1 : 0;
        }
        return early;
    };
    std::vector<std::future<int>> all;
    for (int i = 0; i < parties; ++i)
        all.push_back(std::async(std::launch::async, party, step(parties)));
    for (auto& one : all)
        EXPECT_EQ(one.get(), 0);
    EXPECT_EQ(node_.inspect("step").barrier, (BarrierPhase{parties, 0, phases, false}));
}

TEST_F(Barriers, S35_WhoDropsIsMissedNoMore) {
    auto barrier = step(2);
    auto waits = std::async(std::launch::async, [&] { barrier.arrive_and_wait({.label = "one"}); });
    ASSERT_TRUE(wait_for_waiters("step", 1));
    EXPECT_EQ(node_.inspect("step").waiters.at(0).label, "one");
    barrier.arrive_and_drop();
    waits.get();
    barrier.arrive_and_wait();  // alone
    EXPECT_EQ(node_.inspect("step").barrier, (BarrierPhase{1, 0, 2, false}));
}

TEST_F(Barriers, S35_APartyThatGivesUpBreaksIt) {
    auto barrier = step(3);
    std::error_code ec;
    auto waits = std::async(std::launch::async, [&] { barrier.arrive_and_wait(ec); });
    ASSERT_TRUE(wait_for_waiters("step", 1));
    EXPECT_FALSE(barrier.arrive_and_wait_for(20ms));
    waits.get();
    EXPECT_EQ(ec, Errc::session_expired);
    EXPECT_EQ(thrown_by([&] { barrier.arrive_and_wait(); }), Errc::session_expired);
    EXPECT_EQ(thrown_by([&] { barrier.arrive_and_drop(); }), Errc::session_expired);
    EXPECT_TRUE(node_.inspect("step").barrier->is_broken);
    node_.remove("step");
    auto alone = step(1);
    EXPECT_TRUE(alone.arrive_and_wait_for(patience));
}

TEST_F(Barriers, S35_ACancelBreaksIt) {
    std::stop_source stop;
    WaitOptions options;
    options.cancel = stop.get_token();
    auto barrier = step();
    std::error_code ec;
    auto waits = std::async(std::launch::async, [&] { barrier.arrive_and_wait(options, ec); });
    ASSERT_TRUE(wait_for_waiters("step", 1));
    stop.request_stop();
    waits.get();
    EXPECT_EQ(ec, Errc::cancelled);
    EXPECT_EQ(thrown_by([&] { barrier.arrive_and_wait(); }), Errc::session_expired);
}

TEST_F(Barriers, BadArgumentsAreRefused) {
    EXPECT_EQ(thrown_by([&] { (void)step(0); }), Errc::invalid_argument);
    EXPECT_EQ(thrown_by([&] { (void)step(Barrier::max() + 1); }), Errc::invalid_argument);
    EXPECT_EQ(thrown_by([&] { Barrier(node_, std::string(513, 'a'), 1); }), Errc::invalid_argument);
    auto barrier = step();
    EXPECT_EQ(thrown_by([&] { (void)barrier.arrive_and_wait_for(0ms); }), Errc::invalid_argument);
    EXPECT_EQ(thrown_by([&] { barrier.arrive_and_wait({.wait_max = 0ms}); }),
              Errc::invalid_argument);
    EXPECT_FALSE(node_.inspect("step").is_used());
    step(1).arrive_and_drop();
    EXPECT_EQ(thrown_by([&] { barrier.arrive_and_wait(); }), Errc::invalid_argument);
    EXPECT_EQ(thrown_by([&] { (void)node_.acquire("step"); }), Errc::kind_mismatch);
    node_.remove("step");
    const auto hold = node_.acquire("step");
    EXPECT_EQ(thrown_by([&] { barrier.arrive_and_wait(); }), Errc::kind_mismatch);
}

TEST(BarrierOnThreeNodes, BreaksWhenAPartyDies) {  // S35, P2
    mortise::testkit::LocalCluster cluster{3, mortise::testkit::quick_timing()};
    const auto party = [&](std::size_t index) { return Barrier{cluster.node(index), "step", 3}; };
    const auto meet = [](Barrier barrier) {
        std::error_code ec;
        barrier.arrive_and_wait(ec);
        return ec;
    };
    const auto dies = cluster.leader().value_or(0);
    std::vector<Barrier> all{party(dies), party((dies + 1) % 3), party((dies + 2) % 3)};
    const auto meet_all = [&](std::size_t from) {
        std::vector<std::future<std::error_code>> ends;
        for (auto i = from; i < 3; ++i)
            ends.push_back(std::async(std::launch::async, meet, all[i]));
        std::vector<std::error_code> errors;
        for (auto& one : ends)
            errors.push_back(one.get());
        return errors;
    };
    for (const auto error : meet_all(0))
        EXPECT_FALSE(error);
    cluster.kill(dies);  // it has arrived once, so it is missed
    for (const auto error : meet_all(1))
        EXPECT_EQ(error, Errc::session_expired);
    EXPECT_EQ(meet(all[1]), Errc::session_expired);
    cluster.node((dies + 1) % 3).remove("step");
    for (auto i = 1U; i < 3; ++i)
        all[i] = Barrier{cluster.node((dies + i) % 3), "step", 2};
    for (const auto error : meet_all(1))
        EXPECT_FALSE(error);
}

}  // namespace
}  // namespace mortise
