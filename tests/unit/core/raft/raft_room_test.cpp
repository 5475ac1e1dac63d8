// A follower that has no capacity for entries (P11).
#include <gtest/gtest.h>

#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

// Node 1 leads; node 3 has no capacity.
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

TEST(RaftRoom, WithoutItNothingIsTakenAndNothingCommitted) {
    Full it;
    const auto commit = it.cluster[n3]->commit_index();
    it.propose(10);
    for (int i = 0; i < 5; ++i)
        it.cluster.beat(n1);
    EXPECT_EQ(it.cluster[n3]->log().last(), it.had);
    EXPECT_EQ(it.cluster[n3]->commit_index(), commit);
    EXPECT_EQ(it.leader->commit_index(), it.leader->log().last().index);
}

// A follower without capacity does not cause an election, and its confirmations count.
TEST(RaftRoom, WithoutItAFollowerFollowsAndConfirms) {
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

TEST(RaftRoom, WithRoomAgainItGetsWhatItMissedWithTheNextHeartbeat) {
    Full it;
    it.propose(10);
    it.cluster.beat(n1);
    it.cluster[n3].set_room(true);
    it.cluster.beat(n1);
    EXPECT_EQ(it.cluster[n3]->log().last(), it.leader->log().last());
    it.cluster.beat(n1);
    EXPECT_EQ(it.cluster[n3]->commit_index(), it.leader->commit_index());
}

// The new leader does not know yet how far the follower is.
TEST(RaftRoom, ANewLeaderFindsOutAsWell) {
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

// Node 3 has three entries of the leader, and does not know that they are committed.
struct FullOfNews : Full {
    FullOfNews() {
        cluster[n3].set_room(true);
        cluster.cut(n3);
        propose(3);
        cluster[n3].receive(n1, append(term.raw(), had, news(3), had.index.raw()));
        cluster[n3].complete_writes();
        cluster[n3].sent.clear();
        cluster[n3].set_room(false);
        propose(2);
    }
    // The entries that the leader appended after those of node 3.
    std::vector<Entry> news(std::size_t count) {
        return leader->log().slice(had.index.next(), 1'000'000, count);
    }
    Term term = leader->term();
    LogIndex has{had.index.raw() + 3};
};

TEST(RaftRoom, WithoutItAFollowerAcknowledgesAndCommitsWhatItHas) {
    FullOfNews it;
    auto& follower = it.cluster[n3];
    follower.receive(n1, append(it.term.raw(), {it.term, it.has}, {}, it.has.raw() + 2));
    const auto reply = follower.newest<AppendReply>(n1);
    EXPECT_FALSE(reply.rejected);
    EXPECT_EQ(reply.match, it.has);
    EXPECT_EQ(follower->commit_index(), it.has);
}

TEST(RaftRoom, WithoutItAFollowerLeavesOutWhatItDoesNotHave) {
    FullOfNews it;
    auto& follower = it.cluster[n3];
    follower.receive(n1, append(it.term.raw(), it.had, it.news(5), it.has.raw() + 2));
    EXPECT_EQ(follower.newest<AppendReply>(n1).match, it.has);
    EXPECT_EQ(follower->commit_index(), it.has);
    EXPECT_EQ(follower->log().last().index, it.has);
    EXPECT_TRUE(follower.writes.empty());
}

// Entries that conflict with the leader's are left alone for now.
TEST(RaftRoom, WithoutItAFollowerTruncatesNothing) {
    FullOfNews it;
    auto& follower = it.cluster[n3];
    auto other = it.news(5);
    other[2] = make_entry({it.term.next(), other[2].id.index}, EntryKind::noop, {});
    other.resize(3);
    follower.receive(n1, append(it.term.next().raw(), it.had, other, it.has.raw()));
    follower.complete_writes();
    EXPECT_EQ(follower->log().last().index, it.has);
    EXPECT_EQ(follower->commit_index().raw(), it.has.raw() - 1);
    EXPECT_EQ(follower.newest<AppendReply>(n1).match.raw(), it.has.raw() - 1);
}

// Otherwise each heartbeat would be followed by a stream of entries that are not accepted.
TEST(RaftRoom, WithoutItNothingIsSentAgainBetweenHeartbeats) {
    Full it;
    it.propose(10);
    it.cluster.beat(n1);
    it.leader.sent.clear();
    for (int i = 0; i < 20; ++i) {
        it.leader.now = it.leader.now + heartbeat;
        it.leader.timer();
        for (const auto& message : it.leader.take<AppendRequest>(n3)) {
            EXPECT_TRUE(message.entries.empty());
            it.cluster[n3].receive(n1, message);
        }
        for (const auto& reply : it.cluster[n3].take<AppendReply>(n1))
            it.leader.receive(n3, reply);
    }
}

// A leader without capacity would delay all others, so nodes with capacity come first.
TEST(RaftRoom, WithoutItAFollowerAsksLaterForVotes) {  // P7
    Full it;
    it.cluster.beat(n1);
    const auto heard = it.cluster[n3].now;
    EXPECT_GT(it.cluster[n3]->deadline(), heard + 3 * election_timeout);
    EXPECT_LT(it.cluster[n3]->deadline(), heard + 6 * election_timeout);
    EXPECT_LT(it.cluster[n2]->deadline(), heard + 3 * election_timeout);
    it.cluster[n3].peer_down(n1);
    EXPECT_GT(it.cluster[n3]->deadline(), heard + 3 * election_timeout);
}

TEST(RaftRoom, WithoutItAFollowerDoesNotAskAtOnceWhenTheLeaderIsLost) {
    RaftCluster cluster{1, 2, 3};
    cluster.elect(n1);
    cluster.beat(n1);
    cluster[n2].set_room(false);
    cluster[n2].peer_down(n1);
    EXPECT_EQ(cluster[n2]->role(), Role::follower);
    EXPECT_GE(cluster[n2]->deadline(), cluster[n2].now + 2 * election_timeout);
}

// If no node has capacity, one of them leads nevertheless: when one disk progresses again, there is
// a leader.
TEST(RaftRoom, WhereNobodyHasItOneIsElected) {
    RaftCluster cluster{1, 2, 3};
    for (const auto id : {n1, n2, n3})
        cluster[id].set_room(false);
    cluster.elect(n2);
    EXPECT_TRUE(cluster[n2]->is_leader());
}

}  // namespace
}  // namespace mortise::core::test
