#include <gtest/gtest.h>

#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

// Node 1 leads these nodes, and all are quiet.
struct Led {
    explicit Led(std::initializer_list<std::uint64_t> ids)
        : cluster{ids}, leader{cluster.elect(n1)} {}

    RaftCluster cluster;
    HandDriven& leader;
};

// Thesis 6.4
TEST(RaftReads, ALeaderAnswersOnceAMajorityConfirmsIt) {
    Led led{1, 2, 3};
    EXPECT_TRUE(led.leader.read(7));
    EXPECT_TRUE(led.leader.reads.empty());
    // at once, without waiting for a heartbeat
    const auto request = led.leader.newest<AppendRequest>(n2);
    EXPECT_TRUE(request.entries.empty());
    led.leader.receive(n2, accepts(2, 2, request.read_round));
    ASSERT_EQ(led.leader.reads.size(), 1U);
    EXPECT_EQ(led.leader.reads[0].id, ReadId{7});
    EXPECT_EQ(led.leader.reads[0].index, LogIndex{2});
}

// The index is that of the question: later commits need not be waited for.
TEST(RaftReads, AnswersWithTheCommitIndexOfTheQuestion) {
    Led led{1, 2, 3};
    led.leader.propose();
    led.leader.read(7);
    const auto round = led.leader.newest<AppendRequest>(n2).read_round;
    led.leader.complete_writes();
    led.leader.receive(n3, accepts(2, 3));
    ASSERT_EQ(led.leader->commit_index(), LogIndex{3});
    led.leader.receive(n2, accepts(2, 2, round));
    ASSERT_EQ(led.leader.reads.size(), 1U);
    EXPECT_EQ(led.leader.reads[0].index, LogIndex{2});
}

// B-R1: an answer that was in transit before the question confirms nothing.
TEST(RaftReads, AnEarlierConfirmationDoesNotCount) {
    Led led{1, 2, 3};
    led.leader.read(7);
    const auto first = led.leader.newest<AppendRequest>(n2).read_round;
    led.leader.read(8);
    const auto second = led.leader.newest<AppendRequest>(n2).read_round;
    EXPECT_LT(first, second);
    led.leader.receive(n2, accepts(2, 2, first));
    ASSERT_EQ(led.leader.reads.size(), 1U);
    EXPECT_EQ(led.leader.reads[0].id, ReadId{7});
    led.leader.receive(n2, accepts(2, 2, first));
    led.leader.receive(n3, accepts(2, 2, first));
    EXPECT_EQ(led.leader.reads.size(), 1U);
    led.leader.receive(n3, accepts(2, 2, second));
    ASSERT_EQ(led.leader.reads.size(), 2U);
    EXPECT_EQ(led.leader.reads[1].id, ReadId{8});
}

TEST(RaftReads, ALaterConfirmationAnswersTheEarlierQuestions) {
    Led led{1, 2, 3};
    led.leader.read(7);
    led.leader.read(8);
    led.leader.receive(n2, accepts(2, 2, led.leader.newest<AppendRequest>(n2).read_round));
    EXPECT_EQ(led.leader.reads.size(), 2U);
}

// However many reads are asked at once (P10): each is processed when it is asked, and when it is
// answered.
TEST(RaftReads, OfOneStepShareARound) {  // P7
    Led led{1, 2, 3};
    led.leader.read(1);
    const auto before = led.leader.newest<AppendRequest>(n2).read_round;
    led.leader.read_many(2, 60'002);
    const auto after = led.leader.newest<AppendRequest>(n2).read_round;
    EXPECT_EQ(after, before + 1);
    led.leader.receive(n2, accepts(2, 2, before));
    EXPECT_EQ(led.leader.reads.size(), 1U);
    led.leader.receive(n2, accepts(2, 2, after));
    EXPECT_EQ(led.leader.reads.size(), 60'001U);
}

// P11: reads that are not confirmed, and are asked repeatedly.
TEST(RaftReads, AreBounded) {
    Led led{1, 2, 3};
    led.leader.read_many(0, 300'000);
    led.leader.receive(n2, accepts(2, 2, led.leader.newest<AppendRequest>(n2).read_round));
    ASSERT_EQ(led.leader.reads.size(), 262'144U);
    EXPECT_EQ(led.leader.reads.back().id, ReadId{299'999});
}

TEST(RaftReads, TheSameConfirmationTwiceIsNoMajorityOfFive) {
    Led led{1, 2, 3, 4, 5};
    led.leader.read(7);
    const auto round = led.leader.newest<AppendRequest>(n2).read_round;
    led.leader.receive(n2, accepts(2, 2, round));
    led.leader.receive(n2, accepts(2, 2, round));
    EXPECT_TRUE(led.leader.reads.empty());
    led.leader.receive(n5, accepts(2, 2, round));
    EXPECT_EQ(led.leader.reads.size(), 1U);
}

// A follower whose log does not match yet still follows this leader.
TEST(RaftReads, ARejectionConfirmsToo) {
    Led led{1, 2, 3};
    led.leader.read(7);
    auto reply = rejects(2, 2, log_id(1, 1));
    reply.read_round = led.leader.newest<AppendRequest>(n2).read_round;
    led.leader.receive(n2, reply);
    EXPECT_EQ(led.leader.reads.size(), 1U);
}

TEST(RaftReads, LearnersConfirmNothing) {
    auto configuration = voters({1, 2, 3});
    configuration.learners = members({4, 5});
    RaftCluster cluster{configuration, options_of(n1)};
    auto& leader = cluster.elect(n1);
    leader.read(7);
    const auto round = leader.newest<AppendRequest>(n4).read_round;
    leader.receive(n4, accepts(2, 2, round));
    leader.receive(n5, accepts(2, 2, round));
    EXPECT_TRUE(leader.reads.empty());
}

// B-R2: a new leader does not know yet what its predecessor committed.
TEST(RaftReads, WaitForTheFirstCommitOfTheTerm) {  // P2
    RaftCluster cluster{1, 2, 3};
    auto& leader = cluster[n1];
    leader.timer_when_due();
    while (!leader->is_leader()) {
        cluster.deliver();
        for (auto& [id, node] : cluster)
            node.complete_writes();
    }
    leader.complete_writes();
    ASSERT_FALSE(leader->has_committed_own_term());
    EXPECT_TRUE(leader.read(7));
    leader.receive(n2, accepts(2, 1));
    leader.receive(n3, accepts(2, 1));
    EXPECT_TRUE(leader.reads.empty());
    leader.receive(n2, accepts(2, 2));
    ASSERT_TRUE(leader->has_committed_own_term());
    EXPECT_TRUE(leader.reads.empty());  // the round begins now
    leader.receive(n2, accepts(2, 2, leader.newest<AppendRequest>(n2).read_round));
    ASSERT_EQ(leader.reads.size(), 1U);
    EXPECT_EQ(leader.reads[0].index, LogIndex{2});
}

TEST(RaftReads, AreAnsweredOnFollowersThroughTheLeader) {
    Led led{1, 2, 3};
    auto& follower = led.cluster[n3];
    EXPECT_TRUE(follower.read(9));
    led.cluster.settle();
    ASSERT_EQ(follower.reads.size(), 1U);
    EXPECT_EQ(follower.reads[0].id, ReadId{9});
    EXPECT_EQ(follower.reads[0].index, LogIndex{2});
    EXPECT_TRUE(led.leader.reads.empty());
}

TEST(RaftReads, AFollowerIsAnsweredOnlyAfterAConfirmation) {
    Led led{1, 2, 3};
    led.leader.receive(n3, ReadRequest{Term{2}, ReadId{9}});
    EXPECT_EQ(led.leader.sent_count<ReadReply>(n3), 0U);
    led.leader.receive(n2, accepts(2, 2, led.leader.newest<AppendRequest>(n2).read_round));
    EXPECT_EQ(led.leader.newest<ReadReply>(n3).id, ReadId{9});
}

TEST(RaftReads, NeedALeader) {
    RaftCluster cluster{1, 2, 3};
    EXPECT_FALSE(cluster[n1].read(7));
    cluster[n1].timer_when_due();
    EXPECT_FALSE(cluster[n1].read(8));
    EXPECT_EQ(cluster[n1].sent_count<ReadRequest>(n2), 0U);
}

TEST(RaftReads, AskedOfWhoDoesNotLeadOrOfAnotherTermGoUnanswered) {
    Led led{1, 2, 3};
    auto& follower = led.cluster[n2];
    follower.receive(n3, ReadRequest{Term{2}, ReadId{9}});
    led.leader.receive(n3, ReadRequest{Term{1}, ReadId{10}});
    led.cluster.settle();
    EXPECT_TRUE(led.cluster[n3].reads.empty());
}

TEST(RaftReads, ASingleVoterAnswersAtOnce) {
    RaftCluster cluster{1};
    auto& leader = cluster.elect(n1);
    EXPECT_TRUE(leader.read(7));
    ASSERT_EQ(leader.reads.size(), 1U);
    EXPECT_EQ(leader.reads[0].index, LogIndex{2});
}

TEST(RaftReads, ASingleVoterAnswersNothingBeforeItsFirstCommit) {
    RaftCluster cluster{1};
    auto& leader = cluster[n1];
    leader.timer_when_due();
    leader.complete_write();
    ASSERT_TRUE(leader->is_leader());
    leader.read(7);
    EXPECT_TRUE(leader.reads.empty());
    leader.complete_writes();
    EXPECT_EQ(leader.reads.size(), 1U);
}

// The old leader does not know that it was deposed while the others commit without it.
TEST(RaftReads, AnOldLeaderInAMinorityAnswersNothing) {  // P2
    Led led{1, 2, 3};
    led.leader.read(1);
    led.cluster.settle();
    ASSERT_EQ(led.leader.reads.size(), 1U);
    led.cluster.cut(n1);
    const auto before = led.leader.now;
    auto& successor = led.cluster.elect(n2);
    successor.propose();
    led.cluster.settle();
    led.leader.now = before + heartbeat;  // its clock is slow
    ASSERT_TRUE(led.leader->is_leader());
    EXPECT_TRUE(led.leader.read(2));
    led.leader.receive(n3, ReadRequest{Term{2}, ReadId{3}});
    led.cluster.settle();
    led.leader.timer();
    led.cluster.settle();
    EXPECT_EQ(led.leader.reads.size(), 1U);
    EXPECT_EQ(led.leader.sent_count<ReadReply>(n3), 0U);
}

// B-R3: answers come from a leader, or not at all.
TEST(RaftReads, EndWithTheLeadership) {  // B-V11
    Led led{1, 2, 3};
    led.leader.read(7);
    const auto round = led.leader.newest<AppendRequest>(n2).read_round;
    led.leader.receive(n3, append(3, log_id(2, 2)));
    ASSERT_EQ(led.leader->role(), Role::follower);
    led.leader.receive(n2, accepts(2, 2, round));
    led.leader.complete_writes();
    EXPECT_TRUE(led.leader.reads.empty());
}

// Rounds are counted anew in each term: a round of an earlier term confirms nothing.
TEST(RaftReads, RoundsOfAnotherTermDoNotCount) {
    Led led{1, 2, 3};
    led.leader.read(1);
    led.cluster.settle();
    auto& successor = led.cluster.elect(n2);
    successor.read(9);
    const auto round = successor.newest<AppendRequest>(n3).read_round;
    EXPECT_EQ(round, 1U);
    successor.receive(n3, accepts(2, 2, 1));
    EXPECT_TRUE(successor.reads.empty());
    successor.receive(n3, accepts(3, 3, 1));
    EXPECT_EQ(successor.reads.size(), 1U);
}

// A follower reports the round of its present leader, not of a former one.
TEST(RaftReads, AFollowerForgetsRoundsWithTheirLeader) {
    Led led{1, 2, 3};
    auto& follower = led.cluster[n3];
    led.leader.read(1);
    led.cluster.settle();
    follower.receive(n2, append(3, log_id(2, 2)));
    follower.complete_writes();
    EXPECT_EQ(follower.newest<AppendReply>(n2).read_round, 0U);
}

}  // namespace
}  // namespace mortise::core::test
