// A follower that has no room for entries (P11).
#include <gtest/gtest.h>

#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

// Node 1 leads; node 3 has no room.
struct Full {
    Full() { cluster[n3].set_room(false); }
    void propose(int count) {
        for (int i = 0; i < count; ++i)
            leader.propose();
        cluster.settle();
    }

    RaftCluster cluster{1, 2, 3};
    HandDriven& leader{cluster.elect(n1)};
    LogId had = cluster[n3]->log().last();
};

TEST(Room, WithoutItNothingIsTakenAndNothingCommitted) {
    Full it;
    const auto commit = it.cluster[n3]->commit_index();
    it.propose(10);
    for (int i = 0; i < 5; ++i)
        it.cluster.beat(n1);
    EXPECT_EQ(it.cluster[n3]->log().last(), it.had);
    EXPECT_EQ(it.cluster[n3]->commit_index(), commit);
    EXPECT_EQ(it.leader->commit_index(), it.leader->log().last().index);
}

// Who has no room is no reason for an election, and counts for what it hears.
TEST(Room, WithoutItAFollowerFollowsAndConfirms) {
    Full it;
    it.propose(1);
    it.cluster.cut(n2);
    for (int i = 0; i < 30; ++i) {
        it.cluster.beat(n1);
        if (it.cluster[n3]->deadline() <= it.cluster[n3].now) it.cluster[n3].timer();
    }
    EXPECT_TRUE(it.leader->is_leader());
    EXPECT_EQ(it.cluster[n3]->leader(), n1);
    it.leader.read(7);
    it.cluster.settle();
    EXPECT_EQ(it.leader.reads.size(), 1U);
    const auto commit = it.leader->commit_index();
    it.propose(1);
    EXPECT_EQ(it.leader->commit_index(), commit);
}

TEST(Room, WithRoomAgainItGetsWhatItMissedWithTheNextHeartbeat) {
    Full it;
    it.propose(10);
    it.cluster.beat(n1);
    it.cluster[n3].set_room(true);
    it.cluster.beat(n1);
    EXPECT_EQ(it.cluster[n3]->log().last(), it.leader->log().last());
    it.cluster.beat(n1);
    EXPECT_EQ(it.cluster[n3]->commit_index(), it.leader->commit_index());
}

// Nobody knows yet how far it is.
TEST(Room, ANewLeaderFindsOutAsWell) {
    Full it;
    it.propose(3);
    it.cluster.elect(n2);
    it.propose(3);
    ASSERT_EQ(it.cluster[n2]->progress_of(n3)->state, Progress::State::probe);
    EXPECT_EQ(it.cluster[n3]->log().last(), it.had);
    it.cluster[n3].set_room(true);
    it.cluster.beat(n2);
    it.cluster.beat(n2);
    EXPECT_EQ(it.cluster[n3]->log().last(), it.cluster[n2]->log().last());
}

}  // namespace
}  // namespace mortise::core::test
