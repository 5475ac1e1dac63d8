// The order of the actions of NodeCore::step: each test fails if two of them change places.
#include <gtest/gtest.h>

#include "core/codec/command_codec.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

constexpr NodeId owner{77};

// 8 before 9.
TEST(NodeCoreOrder, ANodeAloneAnswersAReadInTheStepThatAsksForIt) {  // P8
    HandDrivenNode node{1, {1}};
    for (int beat = 0; beat < 5; ++beat) {
        node.timer_when_due();
        node.complete_writes();
    }
    ASSERT_TRUE(node.raft().is_leader());
    node.inspect(1, "a");
    EXPECT_TRUE(node.was_answered<Viewed>(1));
}

// 14 before 15.
TEST(NodeCoreOrder, ALeaderEndsASessionInTheStepInWhichItsCountdownEnds) {  // P8
    NodeCluster cluster{1};
    cluster[n1].timer();
    cluster.run_for(3s);
    ASSERT_NE(cluster.leader(), nullptr);
    auto& leader = cluster[n1];
    cluster.add_played(owner);
    BatchBuilder batch;
    batch.add(opening_of(owner, 2'000));
    leader.receive(owner, forward_of(batch.take()));
    cluster.settle();
    const auto opened = leader.now;
    const auto session = leader.core().machine().sessions().newest();
    cluster.run_for(1'990ms);
    const auto before = leader.raft().log().last().index;
    leader.now = opened + 2s;
    leader.timer();
    ASSERT_GT(leader.raft().log().last().index, before);
    const auto ends = decode_batch(leader.raft().log().at(before.next()).payload).value();
    const auto* expiry = std::get_if<Expire>(&ends.back());
    ASSERT_NE(expiry, nullptr);
    EXPECT_EQ(expiry->session, session);
}

}  // namespace
}  // namespace mortise::core::test
