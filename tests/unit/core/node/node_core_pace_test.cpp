// How often a leader sends when its peers are configured with other times.
#include <gtest/gtest.h>

#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

// As while the configuration is changed node by node: the leader's interval is longer than the
// timeout of the others.
TEST(NodeCorePace, ALeaderSpeaksAsOftenAsItsMostImpatientPeerWants) {
    NodeCluster cluster{{1, 2, 3}, [](NodeOptions& options) {
                            if (options.self != n1) return;
                            options.election_timeout = 9 * election_timeout;
                            options.heartbeat = 3 * election_timeout;
                        }};
    cluster.connect_all();
    cluster.run_for(20 * election_timeout);
    ASSERT_NE(cluster.leader(), nullptr);
    cluster[n2].call(ChangeCall{CallTag{9},
                                {MembershipGoal::Kind::leader, n1, {}},
                                cluster[n2].now + 20 * election_timeout});
    cluster.run_for(2 * election_timeout);
    ASSERT_TRUE(cluster[n1].raft().is_leader());
    const auto term = cluster[n1].raft().term();
    cluster.run_for(50 * election_timeout);
    EXPECT_TRUE(cluster[n1].raft().is_leader());
    EXPECT_EQ(cluster[n1].raft().term(), term);
    // Alone again, it uses its own interval.
    cluster.disconnect(n1, n2);
    cluster.disconnect(n1, n3);
    cluster[n1].now = std::max(cluster[n1].now, cluster[n1].raft().deadline());
    cluster[n1].timer();
    EXPECT_GT(cluster[n1].raft().deadline(), cluster[n1].now + election_timeout);
}

TEST(NodeCorePace, NoPeerMakesALeaderSpeakMoreOftenThanEachMillisecond) {
    NodeCluster cluster{{1, 2, 3}, [](NodeOptions& options) {
                            if (options.self == n2) options.heartbeat = Nanoseconds{1};
                        }};
    cluster.connect_all();
    cluster.run_for(20 * election_timeout);
    auto* leader = cluster.leader();
    ASSERT_NE(leader, nullptr);
    ASSERT_EQ(leader, &cluster[n1]);
    leader->timer_when_due();
    EXPECT_GE(leader->core().deadline(), leader->now + 1ms);
}

}  // namespace
}  // namespace mortise::core::test
