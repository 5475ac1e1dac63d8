// Nodes that must not bootstrap: neither one that is brought into a cluster, nor by a list of
// voters that was changed (S47).
#include <array>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "core/codec/configuration_codec.hpp"
#include "core/raft/snapshot_sum.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

// --- nodes that are brought into a cluster

// One of three nodes whose disk was replaced; another one has the state of their cluster, and sends
// it.
class NodeCoreBroughtIn : public testing::Test {
protected:
    NodeCoreBroughtIn() {
        for (int beat = 0; beat < 5; ++beat) {
            former.timer();
            former.complete_writes();
            former.now = former.now + heartbeat;
        }
        former.now = former.now + former_options().state_interval;
        former.timer();
    }

    void receive_state(HandDrivenNode& node) {
        node.step(PeerUp{former.hello()});
        node.receive(n3, RaftMessage{state()});
        node.complete_writes();
        ASSERT_TRUE(node.raft().is_installing());
        node.step(PeerDown{n3});
    }
    static NodeOptions former_options() {
        auto options = node_options(3, {3});
        options.generation.incarnation = Incarnation{77};
        return options;
    }
    SnapshotChunk state() const {
        std::map<std::string, Row> rows;
        for (const auto& delta : former.deltas) {
            for (const auto& row : delta.rows)
                rows.insert_or_assign(row.key, row);
        }
        const auto& newest = former.deltas.back();
        SnapshotChunk chunk{
            former.raft().term(), newest.applied, newest.configuration, 0, {}, true, 0};
        for (const auto& [key, row] : rows) {
            if (row.value) chunk.rows.push_back(row);
        }
        chunk.checksum = sum_with(0, chunk);
        return chunk;
    }

    HandDrivenNode former{former_options(), RaftState{}};
};

TEST_F(NodeCoreBroughtIn, WhoPutsAStateInForceFoundsNothing) {  // P2
    HandDrivenNode node{1, {1, 2, 3}};
    receive_state(node);
    node.step(PeerUp{empty_hello(2, {1, 2, 3})});
    node.step(PeerUp{empty_hello(3, {1, 2, 3})});
    node.all_agree();
    EXPECT_FALSE(node.is_formed());
    node.step(StateInstalled{state().last});
    EXPECT_EQ(node.hello().cluster, former.hello().cluster);
}

TEST_F(NodeCoreBroughtIn, ANodeThatInstallsASnapshotAgreesToNoBootstrap) {
    HandDrivenNode node{2, {1, 2, 3}};
    receive_state(node);
    node.step(PeerUp{empty_hello(1, {1, 2, 3})});
    node.receive(n1, FormationQuestion{5, node.hello().generation.life});
    EXPECT_EQ(node.sent_to<FormationAnswer>(n1), 0U);
    node.receive(n1, FormationOffer{configures(log_id(1, 1), voters({1, 2, 3}))});
    EXPECT_FALSE(node.is_formed());
}

// Its caller would be woken repeatedly for a question that has become irrelevant.
TEST(NodeCoreFounding, ANodeThatJoinsStopsAsking) {
    HandDrivenNode node{1, {1, 2, 3}};
    node.step(PeerUp{empty_hello(2, {1, 2, 3})});
    node.step(PeerUp{empty_hello(3, {1, 2, 3})});
    ASSERT_EQ(node.sent_to<FormationQuestion>(n2), 1U);
    auto present = voters({1, 2, 3});
    present.voters[0].incarnation = Incarnation{9};  // of the former disk
    node.receive(n2, RaftMessage{append(2, {}, {configures(log_id(1, 1), present)})});
    node.complete_writes();
    ASSERT_TRUE(node.is_formed());
    node.now = node.now + 10 * election_timeout;
    node.timer();
    EXPECT_GT(node.core().deadline(), node.now);
}

// --- a list of one node

// Its cluster may have grown since the list was written, and its directory may be lost.
struct SoleVoter : testing::Test {
    static NodeOptions options() {
        auto options = node_options(1, {1});
        options.founding_pause = 2 * election_timeout;
        return options;
    }
    void wait(Nanoseconds time) {
        node.now = node.now + time;
        node.timer();
    }
    HandDrivenNode node{options(), RaftState{}};
};

TEST_F(SoleVoter, BootstrapsWhenNobodyHasCalled) {
    node.timer();
    EXPECT_FALSE(node.is_formed());
    EXPECT_EQ(node.core().deadline(), node.now + 2 * election_timeout);
    wait(2 * election_timeout - 1ns);
    EXPECT_FALSE(node.is_formed());
    wait(1ns);
    EXPECT_TRUE(node.is_formed());
}

TEST_F(SoleVoter, BootstrapsNothingOnceAMemberOfItsClusterHasCalled) {  // P2
    node.timer();
    const auto member = HandDrivenNode{2, {1, 2, 3}}.hello();
    auto hello = member;
    hello.cluster = ClusterId{7, 9};
    node.step(PeerUp{hello});
    wait(2 * election_timeout);
    EXPECT_FALSE(node.is_formed());
    node.step(PeerDown{n2});
    wait(10 * election_timeout);
    EXPECT_FALSE(node.is_formed());
    EXPECT_GT(node.core().deadline(), node.now);
}

TEST_F(SoleVoter, IsNotKeptFromItByANodeThatIsEmptyToo) {
    node.timer();
    node.step(PeerUp{empty_hello(2, {1, 2, 3})});
    wait(2 * election_timeout);
    EXPECT_TRUE(node.is_formed());
}

TEST_F(SoleVoter, JoinsTheClusterThatCalled) {
    node.timer();
    auto present = voters({1, 2, 3});
    present.voters[0].incarnation = Incarnation{9};  // of the former disk
    auto hello = HandDrivenNode{2, {1, 2, 3}}.hello();
    hello.cluster = present.cluster;
    node.step(PeerUp{hello});
    node.receive(n2, RaftMessage{append(2, {}, {configures(log_id(1, 1), present)})});
    node.complete_writes();
    EXPECT_TRUE(node.is_formed());
    EXPECT_EQ(node.raft().configuration().cluster, present.cluster);
    EXPECT_FALSE(node.raft().is_leader());
}

// --- a list that was changed

// Until the first entry is on the first node's disk, and no other node knows it.
void found(NodeCluster& cluster, const std::array<NodeId, 3>& three) {
    cluster.connect(three[0], three[1]);
    cluster.connect(three[0], three[2]);
    cluster.connect(three[1], three[2]);
    cluster.deliver();  // questions
    cluster.deliver();  // answers
    cluster[three[0]].complete_writes();
}

// The first entry for {1, 2, 3} is on one disk when 2 and 3 are restarted with 4 in place of 1. If
// they still accepted it, 1 and 3 would be a majority of one cluster, and 2 and 4 of another.
TEST(NodeCoreFounding, OfAnotherListIsNotTaken) {  // P2
    NodeCluster cluster{1, 2, 3, 4};
    for (const auto id : {n1, n2, n3})
        cluster[id].configure({1, 2, 3});
    cluster[n4].configure({2, 3, 4});
    found(cluster, {n1, n2, n3});
    ASSERT_TRUE(cluster[n1].hello().cluster.is_set());
    cluster.crash_and_restart(n1);  // its offers are lost
    for (const auto id : {n2, n3}) {
        cluster.crash_and_restart(id);
        cluster[id].configure({2, 3, 4});
    }
    found(cluster, {n2, n3, n4});
    ASSERT_TRUE(cluster[n2].hello().cluster.is_set());
    cluster[n2].sent.clear();
    cluster.connect(n1, n3);
    cluster.run_for(10 * election_timeout);
    EXPECT_EQ(cluster[n2].hello().cluster, cluster[n3].hello().cluster);
    EXPECT_FALSE(cluster[n1].raft().is_leader());
}

}  // namespace
}  // namespace mortise::core::test
