// Members whose directory has forgotten something, as the leader alone knows: how they count again
// (docs/decisions/0077).
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

// Led by node 1, which alone knows of what node 2 has forgotten.
class NodeCoreForgetful : public testing::Test {
protected:
    NodeCoreForgetful() {
        cluster.connect_all();
        cluster.run_for(5 * heartbeat);
        image = cluster[n2].disk();
    }
    // Node 2 acknowledges entries, and starts on its former image. Node 3 has not learned that.
    void forget() {
        cluster.disconnect(n1, n3);
        cluster.disconnect(n2, n3);
        acquire();
        cluster.run_for(3 * heartbeat);
        cluster.roll_back(n2, image, epoch++);
        cluster.connect(n1, n2);
        cluster.connect(n1, n3);
        cluster.connect(n2, n3);
    }
    // A member that knew of it has told node 2 by then, and node 2 would have begun anew.
    void wait_for_others() { cluster.run_for(8 * election_timeout - 2 * heartbeat); }
    void run_until_excluded() {
        for (int i = 0; i < 1'000 && !is_excluded(); ++i)
            cluster.run_for(1ms);
    }
    void acquire() {
        ++tag;
        cluster[n1].acquire(tag, "name" + std::to_string(tag));
    }
    [[nodiscard]] bool is_granted() { return cluster[n1].was_answered<Acquired>(tag); }
    [[nodiscard]] bool is_excluded() {
        const auto* progress = cluster[n1].raft().progress_of(n2);
        return progress != nullptr && progress->counts_from.has_value();
    }
    [[nodiscard]] LogIndex reported() { return cluster[n1].raft().progress_of(n2)->match; }
    [[nodiscard]] LogIndex committed() { return cluster[n1].raft().commit_index(); }

    NodeCluster cluster{1, 2, 3};
    Disk image;
    std::uint64_t epoch = 2;
    std::uint64_t tag = 0;
};

// It said so to the leader alone, for example because the others did not know its directory yet.
TEST_F(NodeCoreForgetful, WhoSaidATermThatItNeverHadCountsAgain) {
    const auto lie = [&](std::uint64_t term) {
        cluster[n1].receive(n2, RaftMessage{rejects(term, 1, {})});
        cluster.settle();
    };
    // After these its leader follows no other term for a while.
    for (int i = 0; i < 4; ++i)
        lie(cluster[n1].raft().term().next().raw());
    lie(term_end - 1);
    ASSERT_TRUE(cluster[n1].raft().is_leader());
    cluster.crash_and_restart(n2);
    cluster.connect_all();
    cluster.run_for(heartbeat);
    ASSERT_TRUE(cluster[n1].noted(Note::Kind::peer_forgot));
    cluster.run_for(15 * election_timeout);
    ASSERT_TRUE(cluster[n1].raft().is_leader());
    EXPECT_TRUE(cluster[n1].noted(Note::Kind::peer_counts_again));
    EXPECT_FALSE(cluster[n2].superseded);
    EXPECT_TRUE(cluster[n2].core().agent().open_session());
    EXPECT_FALSE(cluster[n2].raft().is_doubted());
    cluster.disconnect(n1, n3);
    acquire();
    cluster.run_for(3 * heartbeat);
    EXPECT_TRUE(is_granted());
}

// Node 3, which does not lead, is the only one that remembers a term of node 2.
class NodeCoreForgetfulOfAFollower : public NodeCoreForgetful {
protected:
    void lie_to_node_3_and_restart() {
        const auto high = cluster[n3].raft().term().raw() + 1'000;
        cluster[n3].receive(n2, RaftMessage{rejects(high, 1, {})});
        cluster.settle();
        ASSERT_TRUE(cluster[n1].raft().is_leader());
        cluster.crash_and_restart(n2);
    }
    [[nodiscard]] bool refused() { return cluster[n3].noted(Note::Kind::peer_forgot); }
    [[nodiscard]] bool counts() { return cluster[n3].noted(Note::Kind::peer_counts_again); }
};

// Otherwise nodes 2 and 3 have no leader until node 3 is restarted.
TEST_F(NodeCoreForgetfulOfAFollower, CountsOnceEveryMemberHasALaterEntry) {  // P8
    lie_to_node_3_and_restart();
    cluster.connect_all();
    cluster.run_for(5 * heartbeat);
    cluster.disconnect(n1, n2);
    cluster.disconnect(n1, n3);
    cluster.run_for(5 * election_timeout);
    EXPECT_TRUE(cluster[n2].raft().is_leader() || cluster[n3].raft().is_leader());
    EXPECT_FALSE(refused());
    EXPECT_FALSE(cluster[n2].superseded);
}

// A candidate that has its forgotten vote may have what was appended before. Node 2 asks for votes,
// because it does not hear its leader.
TEST_F(NodeCoreForgetfulOfAFollower, NeedsAnEntryThatWasAppendedAfterItsStart) {
    lie_to_node_3_and_restart();
    cluster.connect(n1, n3);
    cluster.connect(n2, n3);
    acquire();
    cluster.run_for(3 * election_timeout);
    EXPECT_TRUE(is_granted());
    EXPECT_TRUE(refused());
    EXPECT_FALSE(counts());
    cluster.connect(n1, n2);
    cluster.run_for(5 * heartbeat);
    EXPECT_TRUE(counts());
}

TEST_F(NodeCoreForgetfulOfAFollower, NeedsTheStatementThatEveryMemberHasTheEntry) {
    cluster.add_played(n4);
    auto& leader = cluster[n1];
    const auto last = leader.raft().log().last().index.raw();
    leader.receive(n4, RaftMessage{accepts(leader.raft().term().raw(), last)});
    cluster.run_for(3 * heartbeat);  // it acknowledges nothing from now on
    ASSERT_EQ(cluster[n3].raft().unwanted_index(), LogIndex{last});
    lie_to_node_3_and_restart();
    cluster.connect_all();
    cluster.run_for(5 * heartbeat);
    acquire();
    cluster.run_for(3 * heartbeat);
    ASSERT_TRUE(is_granted());
    cluster.disconnect(n1, n2);
    cluster.run_for(3 * election_timeout);
    EXPECT_TRUE(refused());
    EXPECT_FALSE(counts());
}

TEST_F(NodeCoreForgetful, WhoLacksWhatItAcknowledgedReceivesItAndCountsAgain) {
    forget();
    cluster.run_for(heartbeat);
    ASSERT_TRUE(cluster[n1].noted(Note::Kind::peer_forgot));
    wait_for_others();
    EXPECT_EQ(reported(), LogIndex{});
    cluster.run_for(7 * election_timeout);
    EXPECT_TRUE(cluster[n1].noted(Note::Kind::peer_counts_again));
    EXPECT_EQ(reported(), committed());
    EXPECT_TRUE(cluster[n2].core().agent().open_session());
    EXPECT_FALSE(cluster[n2].superseded);
}

// Otherwise its answers would make a majority of it and the leader, which has forgotten votes.
TEST_F(NodeCoreForgetful, CountsForNothingWithoutAMajorityOfTheOthers) {
    forget();
    wait_for_others();
    cluster.disconnect(n1, n3);
    cluster.disconnect(n2, n3);
    const auto before = committed();
    acquire();
    cluster[n1].inspect(900, "name1");
    cluster.run_for(5 * heartbeat);
    EXPECT_TRUE(is_excluded());
    EXPECT_GT(reported(), before);
    EXPECT_EQ(committed(), before);
    EXPECT_FALSE(cluster[n1].was_answered<Viewed>(900));
    cluster.run_for(election_timeout);
    EXPECT_FALSE(cluster[n1].raft().is_leader());
}

// A candidate that has its forgotten vote may have what was appended before.
TEST_F(NodeCoreForgetful, NeedsAnEntryThatWasAppendedAfterItsStart) {
    forget();
    wait_for_others();
    run_until_excluded();
    ASSERT_TRUE(is_excluded());
    const auto before = cluster[n1].raft().log().last().index;
    cluster.run_for(3 * heartbeat);
    ASSERT_EQ(cluster[n1].raft().log().last().index, before);
    EXPECT_EQ(committed(), before);
    EXPECT_EQ(reported(), before);
    EXPECT_TRUE(is_excluded());
    acquire();
    cluster.run_for(2 * heartbeat);
    EXPECT_FALSE(is_excluded());
}

// Otherwise it would never follow a leader of an earlier term again.
TEST_F(NodeCoreForgetful, IsHeardWhenItHasAHigherTerm) {  // P8
    forget();
    wait_for_others();
    run_until_excluded();
    ASSERT_TRUE(is_excluded());
    const auto higher = cluster[n1].raft().term().next();
    cluster[n1].receive(n2, RaftMessage{rejects(higher.raw(), 1, {})});
    EXPECT_EQ(cluster[n1].raft().term(), higher);
    cluster.run_for(5 * election_timeout);
    EXPECT_NE(cluster.leader(), nullptr);
}

TEST_F(NodeCoreForgetful, BeginsAgainWithEachStart) {
    forget();
    wait_for_others();
    run_until_excluded();
    ASSERT_TRUE(is_excluded());
    const auto first = *cluster[n1].raft().progress_of(n2)->counts_from;
    cluster.disconnect(n1, n2);
    acquire();
    cluster.run_for(heartbeat);
    cluster.crash_and_restart(n2);
    cluster.connect(n1, n2);
    ASSERT_TRUE(is_excluded());
    EXPECT_GT(*cluster[n1].raft().progress_of(n2)->counts_from, first);
}

TEST_F(NodeCoreForgetful, WhoForgotItsVoteForTheLeaderCountsAgain) {
    cluster.add_played(n4);  // it answers nothing, so nobody learns what all members have
    cluster.run_for(3 * heartbeat);
    const std::map<NodeId, Disk> images{{n2, cluster[n2].disk()}, {n3, cluster[n3].disk()}};
    cluster.disconnect(n1, n2);
    cluster.disconnect(n1, n3);
    cluster.run_for(10 * election_timeout);
    const auto voter = cluster[n2].raft().is_leader() ? n3 : n2;
    auto& elected = cluster[voter == n2 ? n3 : n2];
    ASSERT_TRUE(elected.raft().is_leader());
    elected.acquire(1, "x");
    cluster.run_for(heartbeat);
    ASSERT_TRUE(elected.was_answered<Acquired>(1));
    // The third member learns that a majority has voted for the leader.
    cluster.connect(n1, n2);
    cluster.connect(n1, n3);
    cluster.run_for(5 * election_timeout);
    ASSERT_TRUE(elected.raft().is_leader());
    cluster.roll_back(voter, images.at(voter), epoch++);
    cluster.connect_all();
    for (std::uint64_t next = 2; next < 40; ++next) {
        cluster.run_for(election_timeout);
        if (auto* leads = cluster.leader()) leads->acquire(next, "x" + std::to_string(next));
    }
    EXPECT_TRUE(elected.noted(Note::Kind::peer_forgot));
    EXPECT_FALSE(cluster[voter].superseded);
    EXPECT_TRUE(cluster[voter].core().agent().open_session());
    EXPECT_TRUE(cluster[voter].raft().leader());
    // A node that was told that it forgot something says nothing about its vote.
    for (const auto node : {n1, voter})
        EXPECT_FALSE(cluster[node].noted(Note::Kind::false_leader));
}

}  // namespace
}  // namespace mortise::core::test
