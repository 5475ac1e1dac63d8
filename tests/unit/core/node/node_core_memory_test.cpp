// Nodes of a cluster that acknowledges from memory (docs/decisions/0095).
#include <gtest/gtest.h>

#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

// Led by node 1.
struct NodeCoreMemory : testing::Test {
    // The first entry raises the ceiling of tokens, and is sealed.
    NodeCoreMemory() {
        start_all();
        acquire_some();
    }
    void start_all() {
        cluster.connect_all();
        cluster.run_for(8 * heartbeat);
    }
    void acquire_some() {
        for (std::uint64_t i = 0; i < 3; ++i, ++tag)
            cluster[n1].acquire(tag, "name" + std::to_string(tag));
        cluster.run_for(3 * heartbeat);
    }
    [[nodiscard]] Durability durability() { return cluster[n1].raft().configuration().durability; }

    NodeCluster cluster{{1, 2, 3},
                        [](NodeOptions& options) { options.durability = Durability::replicated; }};
    std::uint64_t tag = 1;
};

TEST_F(NodeCoreMemory, ANewClusterChangesAtOnce) {
    EXPECT_EQ(durability(), Durability::replicated);
    for (auto& [id, node] : cluster) {
        EXPECT_EQ(node.disk().unsynced, Unsynced::entries) << id.raw();
        EXPECT_EQ(node.hello().durability, Durability::replicated);
    }
    acquire_some();
    EXPECT_LT(cluster[n2].disk().synced, cluster[n2].disk().last());
}

TEST_F(NodeCoreMemory, TheClusterChangesWhenAllMembersSayTheSame) {
    for (const auto id : {n3, n2}) {
        cluster.change_durability(id, Durability::synced);
        start_all();
        EXPECT_EQ(durability(), Durability::replicated) << id.raw();
    }
    cluster.change_durability(n1, Durability::synced);
    cluster.connect_all();
    cluster.run_for(3 * election_timeout);
    EXPECT_EQ(durability(), Durability::synced);
    for (auto& [id, node] : cluster)
        EXPECT_EQ(node.disk().unsynced, Unsynced::nothing) << id.raw();
}

TEST_F(NodeCoreMemory, AMemberThatIsAwayKeepsTheDurability) {
    for (const auto id : {n3, n2, n1}) {
        cluster.change_durability(id, Durability::synced);
        if (id != n3) cluster.connect(n1, n2);
        cluster.run_for(3 * election_timeout);
    }
    cluster.connect(n1, n2);
    cluster.run_for(3 * election_timeout);
    ASSERT_NE(cluster.leader(), nullptr);
    EXPECT_EQ(durability(), Durability::replicated);
}

TEST_F(NodeCoreMemory, AsksItsLeaderWhatIsCommitted) {
    acquire_some();
    cluster.lose_power_and_restart(n2);
    auto& node = cluster[n2];
    EXPECT_TRUE(node.raft().is_forgetful());
    EXPECT_TRUE(node.hello().is_forgetful);
    node.step(PeerUp{cluster[n1].hello()});
    const auto last = node.raft().log().last();
    node.receive(n1,
                 RaftMessage{append(cluster[n1].raft().term().raw(), last, {}, last.index.raw())});
    node.complete_writes();
    const auto question = node.newest<ReadRequest>(n1);
    EXPECT_TRUE(node.raft().is_forgetful());
    node.receive(n1, RaftMessage{ReadReply{node.raft().term(), question.id, last.index}});
    node.complete_writes();
    EXPECT_FALSE(node.raft().is_forgetful());
}

TEST_F(NodeCoreMemory, AsksAgain) {
    acquire_some();
    cluster.lose_power_and_restart(n2);
    auto& node = cluster[n2];
    node.step(PeerUp{cluster[n1].hello()});
    const auto beat = [&] {
        node.receive(
            n1, RaftMessage{append(cluster[n1].raft().term().raw(), node.raft().log().last())});
        node.complete_writes();
    };
    beat();
    const auto first = node.newest<ReadRequest>(n1);
    beat();
    EXPECT_EQ(node.sent_to<ReadRequest>(n1), 0U);
    for (Nanoseconds passed{0}; passed < election_timeout; passed += heartbeat) {
        node.now = node.now + heartbeat;
        beat();
    }
    node.timer();
    EXPECT_NE(node.newest<ReadRequest>(n1).id, first.id);
}

// It lacks entries that it acknowledged, and its leader and the other follower know that.
TEST_F(NodeCoreMemory, IsNotTakenForOneThatWasRolledBack) {
    acquire_some();
    const auto acknowledged = cluster[n2].disk().last();
    cluster.lose_power_and_restart(n2);
    ASSERT_LT(cluster[n2].disk().last(), acknowledged);
    cluster.connect_all();
    cluster.run_for(8 * election_timeout);
    EXPECT_FALSE(cluster[n2].superseded);
    EXPECT_FALSE(cluster[n1].noted(Note::Kind::peer_forgot));
    EXPECT_TRUE(cluster[n2].noted(Note::Kind::recovered));
    EXPECT_EQ(cluster[n2].disk().unsynced, Unsynced::entries);
    EXPECT_GE(cluster[n2].disk().last(), acknowledged);
}

// What it says of its log explains nothing about its term, which is never lost.
TEST_F(NodeCoreMemory, HasToKeepItsTerm) {
    auto hello = cluster[n2].hello();
    const auto term = cluster[n1].raft().term();
    hello.generation.boot_epoch = hello.generation.boot_epoch.next();
    hello.is_forgetful = true;
    auto& leader = cluster[n1];
    leader.step(PeerUp{hello});
    leader.receive(n2, RaftMessage{PreVoteRequest{Term{term.raw() - 1}, 1, log_id(1, 1)}});
    EXPECT_TRUE(leader.noted(Note::Kind::peer_forgot));
}

TEST_F(NodeCoreMemory, ACommitNeedsNoSyncAndSurvivesTheDeathOfAll) {
    acquire_some();
    const auto committed = cluster[n1].raft().commit_index();
    for (const auto id : {n1, n2, n3})
        cluster.crash_and_restart(id);
    cluster.connect_all();
    cluster.run_for(4 * election_timeout);
    ASSERT_NE(cluster.leader(), nullptr);
    EXPECT_GE(cluster.leader()->raft().commit_index(), committed);
    EXPECT_FALSE(cluster.leader()->noted(Note::Kind::era_begun));
}

TEST_F(NodeCoreMemory, AllThatLostPowerBeginAnEra) {
    acquire_some();
    for (const auto id : {n1, n2, n3})
        cluster.lose_power_and_restart(id);
    cluster.connect_all();
    cluster.run_for(6 * election_timeout);
    ASSERT_NE(cluster.leader(), nullptr);
    EXPECT_TRUE(cluster.leader()->noted(Note::Kind::era_begun));
    for (auto& [id, node] : cluster) {
        EXPECT_FALSE(node.raft().is_forgetful()) << id.raw();
        EXPECT_FALSE(node.superseded) << id.raw();
    }
}

}  // namespace
}  // namespace mortise::core::test
