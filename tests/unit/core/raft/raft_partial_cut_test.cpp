// Links that work in one direction only, or between some nodes and not others: a node that can lead
// does, and the others stay quiet (P7). RaftCluster cuts off nodes; here single links are cut.
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

// Time passes in small steps, and due timers fire. Writes take no time.
class PartlyCut {
public:
    explicit PartlyCut(std::initializer_list<std::uint64_t> ids) : cluster{ids} {
        cluster.elect(n1);
    }
    void cut(NodeId from, NodeId to) { cut_.emplace(from, to); }
    void run_for(Nanoseconds time) {
        constexpr Nanoseconds step = 10ms;
        for (Nanoseconds passed{0}; passed < time; passed += step) {
            cluster.pass(step);
            for (auto& [id, node] : cluster) {
                if (node->deadline() <= node.now) node.timer();
            }
            settle();
        }
    }
    // The leader of the newest term.
    NodeId leader() {
        NodeId found;
        Term newest;
        for (const auto& [id, node] : cluster) {
            if (!node->is_leader() || node->term() <= newest) continue;
            found = id;
            newest = node->term();
        }
        return found;
    }

    RaftCluster cluster;

private:
    void settle() {
        for (bool busy = true; busy;) {
            for (auto& [id, node] : cluster) {
                const auto from = id;
                std::erase_if(node.sent, [&](const RaftEnvelope& envelope) {
                    return cut_.contains({from, envelope.to});
                });
            }
            busy = cluster.deliver();
            for (auto& [id, node] : cluster) {
                busy = busy || !node.writes.empty();
                node.complete_writes();
            }
        }
    }

    std::set<std::pair<NodeId, NodeId>> cut_;
};

// B-V9: its heartbeats prevent an election as long as it leads, so it must stop leading when it
// receives no answers.
TEST(RaftPartialCut, ALeaderThatIsHeardAndHearsNobodyMakesRoom) {
    PartlyCut links{1, 2, 3};
    links.cut(n2, n1);
    links.cut(n3, n1);
    links.run_for(5 * election_timeout);
    EXPECT_FALSE(links.cluster[n1]->is_leader());
    const auto leader = links.leader();
    ASSERT_TRUE(leader == n2 || leader == n3);
    // It does not disturb the others from then on either, although it asks for votes all the time.
    const auto term = links.cluster[leader]->term();
    links.cluster[leader].propose();
    links.run_for(20 * election_timeout);
    EXPECT_EQ(links.leader(), leader);
    EXPECT_EQ(links.cluster[leader]->term(), term);
    EXPECT_EQ(links.cluster[leader]->commit_index(), links.cluster[leader]->log().last().index);
}

// B-V6: a follower from which its leader receives nothing disturbs no other node.
TEST(RaftPartialCut, AFollowerThatDoesNotHearItsLeaderChangesNothing) {
    PartlyCut links{1, 2, 3};
    links.cut(n1, n3);
    links.run_for(20 * election_timeout);
    EXPECT_EQ(links.leader(), n1);
    EXPECT_EQ(links.cluster[n1]->term(), Term{2});
    EXPECT_EQ(links.cluster[n3]->role(), Role::pre_candidate);
}

// The outage of six hours in 2020, caused by a network switch: two nodes without a connection, and
// one that is connected with both.
TEST(RaftPartialCut, TwoThatDoNotSeeEachOtherHaveTheThirdInCommon) {  // B-V9
    PartlyCut links{1, 2, 3};
    links.cut(n1, n2);
    links.cut(n2, n1);
    links.run_for(20 * election_timeout);
    EXPECT_EQ(links.leader(), n1);
    EXPECT_EQ(links.cluster[n1]->term(), Term{2});
    links.cluster[n1].propose();
    links.run_for(heartbeat);
    EXPECT_EQ(links.cluster[n3]->commit_index(), links.cluster[n1]->log().last().index);
}

// One member is connected with all; the leader is not among those that reach a majority.
TEST(RaftPartialCut, WhoAloneReachesAMajorityComesToLead) {
    PartlyCut links{1, 2, 3, 4, 5};
    for (const auto one : {n1, n2, n4, n5}) {
        for (const auto other : {n1, n2, n4, n5})
            if (one != other) links.cut(one, other);
    }
    links.run_for(10 * election_timeout);
    ASSERT_EQ(links.leader(), n3);
    const auto term = links.cluster[n3]->term();
    links.cluster[n3].propose();
    links.run_for(20 * election_timeout);
    EXPECT_EQ(links.leader(), n3);
    EXPECT_EQ(links.cluster[n3]->term(), term);
    for (const auto& [id, node] : links.cluster)
        EXPECT_EQ(node->commit_index(), links.cluster[n3]->log().last().index) << id.raw();
}

// B-V18: a pause counts as one elapsed time, not as a number of ticks to be repeated.
TEST(RaftPause, OfAnyLengthIsOneTimeout) {
    HandDriven node{options_of(n1), disk_with(voters({1, 2, 3}), {Term{1}, {}}, {})};
    node.timer_in(1h);
    EXPECT_EQ(node.sent_count<PreVoteRequest>(n2), 1U);
    EXPECT_GT(node->deadline(), node.now);

    RaftCluster alone{1};
    auto& leader = alone.elect(n1);
    leader.timer_in(1h);
    EXPECT_GT(leader->deadline(), leader.now);
    EXPECT_LE(leader->deadline(), leader.now + heartbeat);
}

}  // namespace
}  // namespace mortise::core::test
