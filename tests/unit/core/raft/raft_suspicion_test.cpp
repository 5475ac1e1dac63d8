// When a follower suspects its leader, and which of several followers asks for votes first.
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

// This node of several, which follows a leader whose heartbeats came on time until now.
struct Following {
    explicit Following(NodeId self = n1, NodeId leader = n2,
                       const Configuration& members = voters({1, 2, 3}))
        : node{options_of(self), disk_with(members, {Term{1}, {}}, {})}, leader{leader} {
        for (int i = 0; i < 20; ++i)
            hear_after(heartbeat);
    }
    void hear_after(Nanoseconds delay, std::uint64_t term = 1) {
        node.now = node.now + delay;
        node.receive(leader, append(term, log_id(1, 1)));
        node.complete_writes();
        node.sent.clear();
    }
    // How long it would wait from now on.
    Nanoseconds waits() { return node->deadline() - node.now; }
    bool would_vote_for(NodeId other) {
        node.receive(other, PreVoteRequest{Term{1}, 1, log_id(1, 1)});
        return node.newest<PreVoteReply>(other).granted;
    }

    HandDriven node;
    NodeId leader;
};

TEST(RaftSuspicion, ACalmLeaderThatFallsSilentIsSuspectedAfterAFewHeartbeats) {
    Following it;
    EXPECT_GE(it.waits(), calm_patience);
    EXPECT_LE(it.waits(), 7 * heartbeat);
    it.node.timer_when_due();
    EXPECT_EQ(it.node->role(), Role::pre_candidate);
    EXPECT_EQ(it.node->term(), Term{1});
    EXPECT_TRUE(it.node.writes.empty());
    EXPECT_EQ(it.node.sent_count<PreVoteRequest>(n3), 1U);
}

// A question that comes before the others suspect the leader as well would be refused.
TEST(RaftSuspicion, OthersSuspectTheLeaderBeforeTheyAreAsked) {
    Following first;
    Following other{n3};
    other.node.now = first.node->deadline() - heartbeat / 2;
    EXPECT_TRUE(other.would_vote_for(n1));
}

TEST(RaftSuspicion, AVoterRefusesAsLongAsItDoesNotSuspectTheLeader) {
    Following it;
    it.node.now = it.node.now + calm_patience - 1ns;
    EXPECT_FALSE(it.would_vote_for(n3));
    it.node.receive(n3, VoteRequest{Term{2}, 1, log_id(1, 1), false});
    EXPECT_EQ(it.node->term(), Term{1});
    it.node.now = it.node.now + 1ns;
    EXPECT_TRUE(it.would_vote_for(n3));
}

TEST(RaftSuspicion, AfterOneDelayALeaderHasAWholeElectionTimeout) {
    Following it;
    it.hear_after(heartbeat * 5 / 2);
    EXPECT_GE(it.waits(), election_timeout);
    EXPECT_LE(it.waits(), 2 * election_timeout);
    it.hear_after(heartbeat);
    EXPECT_GE(it.waits(), election_timeout);
    it.node.now = it.node.now + election_timeout - 1ns;
    EXPECT_FALSE(it.would_vote_for(n3));
    it.node.now = it.node.now + 1ns;
    EXPECT_TRUE(it.would_vote_for(n3));
}

// Each pause is longer than any before, but not four times as long.
TEST(RaftSuspicion, ALeaderUnderGrowingLoadIsNotSuspected) {
    Following it;
    for (auto pause = heartbeat; pause < election_timeout; pause = pause * 3 / 2) {
        it.node.now = it.node.now + pause - 1ns;
        it.node.timer();
        EXPECT_EQ(it.node->leader(), n2) << pause.count();
        EXPECT_FALSE(it.would_vote_for(n3)) << pause.count();
        it.hear_after(1ns);
    }
}

TEST(RaftSuspicion, AWrongSuspicionCountsAsADelay) {
    Following it;
    const auto heard = it.node.now;
    it.node.timer_when_due();
    ASSERT_EQ(it.node->role(), Role::pre_candidate);
    it.node.now = heard + 7 * heartbeat;
    it.hear_after(0ms);
    EXPECT_EQ(it.node->leader(), n2);
    EXPECT_GE(it.waits(), election_timeout);
}

// Nobody sent anything while there was no leader.
TEST(RaftSuspicion, AnElectionIsNoDelay) {
    Following it;
    it.hear_after(10 * election_timeout, 2);
    EXPECT_LE(it.waits(), 2 * calm_patience);
    it.node.peer_down(n2);
    it.hear_after(9 * heartbeat, 2);
    EXPECT_LE(it.waits(), 2 * calm_patience);
}

// A node that had no time itself does not blame its leader, whose messages it may not have read.
TEST(RaftSuspicion, ATimerThatFiresLateMakesTheNodeWaitLonger) {
    Following it;
    const auto heard = it.node.now;
    it.node.now = it.node->deadline() + 3 * heartbeat;
    it.node.timer();
    EXPECT_EQ(it.node->role(), Role::follower);
    EXPECT_EQ(it.node->leader(), n2);
    EXPECT_GT(it.node->deadline(), heard + election_timeout);
    EXPECT_LT(it.node->deadline(), heard + 2 * election_timeout);
    it.node.timer_when_due();
    EXPECT_EQ(it.node->role(), Role::pre_candidate);
}

// Not for ever, however late it is each time.
TEST(RaftSuspicion, ANodeThatIsAlwaysLateAsksAsWell) {
    Following it;
    it.node.timer_in(2 * election_timeout);
    EXPECT_EQ(it.node->role(), Role::pre_candidate);
}

// --- one after the other

TEST(RaftSuspicion, VotersThatMissALeaderTogetherAskInTurn) {
    const auto five = voters({1, 2, 3, 4, 5});
    std::vector<Nanoseconds> silent;
    std::vector<Nanoseconds> broken;
    for (const auto id : {n1, n3, n4, n5}) {
        Following it{id, n2, five};
        silent.push_back(it.waits());
        it.node.peer_down(n2);
        const bool asks = it.node->role() == Role::pre_candidate;
        EXPECT_EQ(asks, id == n1);
        broken.push_back(asks ? Nanoseconds{0} : it.waits());
    }
    for (std::size_t i = 1; i < silent.size(); ++i) {
        EXPECT_GE(silent[i], silent[i - 1] + calm_patience / 8);
        EXPECT_GE(broken[i], broken[i - 1] + heartbeat / 40);
    }
    EXPECT_LE(silent.back(), 2 * calm_patience);
    EXPECT_LE(broken.back(), heartbeat / 5);
}

// Others may notice the broken connection a moment later. Who asked meanwhile was refused.
TEST(RaftSuspicion, WhoNoticesLaterThatTheLeaderIsLostAnswersThen) {
    Following other{n3};
    other.node.receive(n1, PreVoteRequest{Term{1}, 7, log_id(1, 1)});
    ASSERT_FALSE(other.node.newest<PreVoteReply>(n1).granted);
    other.node.sent.clear();
    other.node.peer_down(n2);
    const auto answer = other.node.newest<PreVoteReply>(n1);
    EXPECT_TRUE(answer.granted);
    EXPECT_EQ(answer.round, 7U);
}

TEST(RaftSuspicion, ALateAnswerIsForWhoMayBeVotedForOnly) {
    Following other{n3};
    other.node.receive(n1, PreVoteRequest{Term{1}, 7, log_id(1, 0)});
    other.node.sent.clear();
    other.node.peer_down(n2);
    EXPECT_EQ(other.node.sent_count<PreVoteReply>(n1), 0U);
}

// It may be another run of that node, which has asked nothing yet.
TEST(RaftSuspicion, WhoAskedOnALostConnectionIsNotAnswered) {
    Following other{n3};
    other.node.receive(n1, PreVoteRequest{Term{1}, 7, log_id(1, 1)});
    other.node.sent.clear();
    other.node.peer_down(n1);
    other.node.peer_down(n2);
    EXPECT_EQ(other.node.sent_count<PreVoteReply>(n1), 0U);
}

TEST(RaftSuspicion, WhoAnsweredLateLetsTheOtherWin) {
    Following first;
    first.node.receive(n3, PreVoteRequest{Term{1}, 7, log_id(1, 1)});
    first.node.peer_down(n2);
    EXPECT_TRUE(first.node.newest<PreVoteReply>(n3).granted);
    EXPECT_EQ(first.node->role(), Role::follower);
    EXPECT_GE(first.waits(), heartbeat / 10);
    EXPECT_LE(first.waits(), heartbeat / 5);
}

// The whole way, when one follower has noticed and the other one has not.
TEST(RaftSuspicion, AnElectionWaitsForNoTurnAfterABrokenConnection) {
    RaftCluster cluster{1, 2, 3};
    cluster.elect(n3);
    cluster.beat(n3);
    cluster.cut(n3);
    const auto lost = cluster[n1].now;
    cluster[n1].peer_down(n3);
    cluster.settle();
    EXPECT_FALSE(cluster[n1]->is_leader());
    cluster[n2].peer_down(n3);
    cluster.settle();
    EXPECT_TRUE(cluster[n1]->is_leader());
    EXPECT_EQ(cluster[n1].now, lost);
}

// --- after a refusal

TEST(RaftSuspicion, ARefusedQuestionIsRepeatedSoonAndThenLessAndLessOften) {
    Following it;
    it.node.timer_when_due();
    Nanoseconds before{0};
    for (int attempt = 0; attempt < 4; ++attempt) {
        const auto round = it.node.newest<PreVoteRequest>(n3).round;
        it.node.receive(n3, PreVoteReply{Term{1}, round, false});
        EXPECT_LE(it.waits(), heartbeat / 4 * (1 << attempt));
        EXPECT_GT(it.waits(), before / 2);
        before = it.waits();
        it.node.timer_when_due();
        EXPECT_EQ(it.node->role(), Role::pre_candidate);
    }
    const auto until = it.node.now + 20 * election_timeout;
    int asked = 0;
    for (; it.node.now < until; ++asked) {
        const auto round = it.node.newest<PreVoteRequest>(n3).round;
        it.node.receive(n3, PreVoteReply{Term{1}, round, false});
        it.node.timer_when_due();
    }
    EXPECT_LE(asked, 22);
    EXPECT_EQ(it.node->term(), Term{1});
}

TEST(RaftSuspicion, ARefusalBeforeALeaderWasHeardIsForgotten) {
    Following it;
    for (int attempt = 0; attempt < 6; ++attempt) {
        it.node.timer_when_due();
        const auto round = it.node.newest<PreVoteRequest>(n3).round;
        it.node.receive(n3, PreVoteReply{Term{1}, round, false});
    }
    it.hear_after(heartbeat);
    it.node.timer_when_due();
    const auto round = it.node.newest<PreVoteRequest>(n3).round;
    it.node.receive(n3, PreVoteReply{Term{1}, round, false});
    EXPECT_LE(it.waits(), heartbeat / 4);
}

// Both voted for themselves, and the third one does not answer.
TEST(RaftSuspicion, ASplitVoteIsRepeatedSoon) {
    RaftCluster cluster{1, 2, 3};
    cluster.elect(n3);
    cluster.beat(n3);
    cluster.cut(n3);
    cluster.pass(calm_patience);
    cluster[n1].peer_down(n3);
    cluster[n2].peer_down(n3);
    cluster[n2].timer_when_due();
    ASSERT_TRUE(cluster.deliver());  // the questions
    ASSERT_TRUE(cluster.deliver());  // the answers
    ASSERT_EQ(cluster[n1]->role(), Role::candidate);
    ASSERT_EQ(cluster[n2]->role(), Role::candidate);
    cluster.settle();
    ASSERT_EQ(cluster[n1]->role(), Role::candidate);
    ASSERT_EQ(cluster[n2]->role(), Role::candidate);
    const auto next = std::min(cluster[n1]->deadline(), cluster[n2]->deadline());
    EXPECT_LE(next, cluster[n1].now + heartbeat);
    for (auto& [id, node] : cluster)
        node.now = std::max(node.now, next);
    for (const auto id : {n1, n2}) {
        if (cluster[id]->deadline() <= next) cluster[id].timer();
    }
    cluster.settle();
    EXPECT_TRUE(cluster[n1]->is_leader() || cluster[n2]->is_leader());
}

// --- together

// Milliseconds from the moment when the leader is cut off until another node leads.
int silence_of(RaftCluster& cluster, NodeId leader, int after_heartbeat) {
    for (int i = 0; i < 20; ++i)
        cluster.beat(leader);
    cluster.pass(after_heartbeat * 1ms);
    cluster.cut(leader);
    for (int passed = 0; passed < 5000; ++passed) {
        for (auto& [id, node] : cluster) {
            if (id != leader && node->is_leader()) return passed;
        }
        cluster.pass(1ms);
        for (auto& [id, node] : cluster) {
            if (node->deadline() <= node.now) node.timer();
        }
        cluster.settle();
    }
    return 5000;
}

// Target T6, whoever leads and whenever it falls silent. Messages and writes take no time here.
TEST(RaftSuspicion, ASilentLeaderHasASuccessorWithinASecond) {
    for (const auto& members : {voters({1, 2, 3}), voters({1, 2, 3, 4, 5})}) {
        for (const auto leader : {n1, n2, n3}) {
            for (int after = 0; after < 100; after += 9) {
                RaftCluster cluster{members, options_of(n1)};
                cluster.elect(leader);
                EXPECT_LE(silence_of(cluster, leader, after), 700);
            }
        }
    }
}

// Nobody had a reason to be more patient.
TEST(RaftSuspicion, OneFailoverDoesNotDelayTheNext) {
    RaftCluster cluster{1, 2, 3};
    cluster.elect(n1);
    EXPECT_LE(silence_of(cluster, n1, 0), 700);
    cluster.heal(n1);
    const auto next = cluster[n2]->is_leader() ? n2 : n3;
    cluster.beat(next);
    EXPECT_LE(silence_of(cluster, next, 0), 700);
}

}  // namespace
}  // namespace mortise::core::test
