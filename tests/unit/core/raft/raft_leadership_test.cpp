#include <gtest/gtest.h>

#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

// Node 1 leads these nodes, and all are quiet.
struct Leading {
    explicit Leading(std::initializer_list<std::uint64_t> ids)
        : cluster{ids}, leader{cluster.elect(n1)} {}

    // Passes time in heartbeats, so that no node takes it for a pause.
    void run_for(Nanoseconds time) {
        for (Nanoseconds passed{0}; passed < time; passed += heartbeat)
            cluster.beat(n1);
    }

    RaftCluster cluster;
    HandDriven& leader;
};

// --- the first leader

TEST(RaftLeadership, ASoleFounderLeadsAtOnce) {
    HandDriven node{options_of(n1), RaftState{}};
    const auto formed = node.now;
    node.adopt_formation(founding_entry(voters({1})));
    node.complete_writes();
    node.timer_when_due();
    node.complete_writes();
    EXPECT_TRUE(node->is_leader());
    EXPECT_EQ(node.now, formed);
}

// The others have the first entry by then, so they can vote.
TEST(RaftLeadership, TheFirstOfSeveralFoundersAsksAfterAHeartbeat) {
    HandDriven node{options_of(n1), RaftState{}};
    const auto formed = node.now;
    node.adopt_formation(founding_entry(voters({1, 2, 3})));
    node.timer_when_due();
    EXPECT_EQ(node.now, formed + heartbeat);
}

// --- check-quorum (thesis 6.2)

TEST(RaftLeadership, LastsWhileAMajorityAnswers) {
    Leading led{1, 2, 3};
    led.cluster.cut(n3);
    led.run_for(10 * election_timeout);
    EXPECT_TRUE(led.leader->is_leader());
    EXPECT_EQ(led.leader->term(), Term{2});
}

TEST(RaftLeadership, EndsATimeoutAfterTheLastAnswerOfAMajority) {
    Leading led{1, 2, 3};
    led.cluster.cut(n2);
    led.cluster.cut(n3);
    led.run_for(election_timeout);
    EXPECT_TRUE(led.leader->is_leader());
    led.run_for(heartbeat);
    EXPECT_EQ(led.leader->role(), Role::follower);
    EXPECT_TRUE(led.leader.noted(Note::Kind::lost_quorum));
    EXPECT_EQ(led.leader->leader(), std::nullopt);
    EXPECT_EQ(led.leader->hard_state(), (HardState{Term{2}, n1}));
}

TEST(RaftLeadership, AnswersOfLearnersDoNotKeepIt) {
    auto configuration = voters({1, 2, 3});
    configuration.learners = members({4, 5});
    RaftCluster cluster{configuration, options_of(n1)};
    auto& leader = cluster.elect(n1);
    cluster.cut(n2);
    cluster.cut(n3);
    for (int i = 0; i < 11; ++i)
        cluster.beat(n1);
    EXPECT_FALSE(leader->is_leader());
}

TEST(RaftLeadership, ASingleVoterKeepsIt) {
    RaftCluster cluster{1};
    auto& leader = cluster.elect(n1);
    for (int i = 0; i < 50; ++i)
        cluster.beat(n1);
    leader.timer_in(1h);
    EXPECT_TRUE(leader->is_leader());
}

// P7: after a pause, the answers that waited in its sockets are not contact.
TEST(RaftLeadership, APausedLeaderStepsDownBeforeItLooksAtWhatWaits) {
    for (const bool with_timer : {true, false}) {
        Leading led{1, 2, 3};
        led.leader.propose();
        led.leader.complete_writes();
        led.leader.read(7);
        const auto round = led.leader.newest<AppendRequest>(n2).read_round;
        led.leader.now = led.leader.now + election_timeout + 1ns;
        if (with_timer) led.leader.timer();
        led.leader.receive(n2, accepts(2, 3, round));
        led.leader.receive(n3, accepts(2, 3, round));
        EXPECT_EQ(led.leader->role(), Role::follower);
        EXPECT_TRUE(led.leader.noted(Note::Kind::lost_quorum));
        EXPECT_EQ(led.leader->commit_index(), LogIndex{2});
        EXPECT_TRUE(led.leader.reads.empty());
    }
}

TEST(RaftLeadership, APausedLeaderTakesNoProposalsAndReads) {
    Leading led{1, 2, 3};
    led.leader.now = led.leader.now + election_timeout + 1ns;
    EXPECT_EQ(led.leader.propose(), std::nullopt);
    EXPECT_FALSE(led.leader.read(7));
    EXPECT_FALSE(led.leader.transfer_to(n2));
}

// B-V16, P10: otherwise heartbeats would keep a leader in office that can write nothing.
TEST(RaftLeadership, EndsWhenItsOwnDiskStalls) {  // P7
    Leading led{1, 2, 3};
    led.cluster.stall_disk(n1);
    led.leader.propose();
    led.run_for(election_timeout);
    EXPECT_TRUE(led.leader->is_leader());
    led.run_for(heartbeat);
    EXPECT_EQ(led.leader->role(), Role::follower);
    EXPECT_TRUE(led.leader.noted(Note::Kind::disk_stalled));
    EXPECT_FALSE(led.leader.noted(Note::Kind::lost_quorum));
}

// Each write has its own time: a busy disk is not a stalled one.
TEST(RaftLeadership, LastsWhileWritesComplete) {
    Leading led{1, 2, 3};
    led.cluster.stall_disk(n1);
    for (int i = 0; i < 30; ++i) {
        led.leader.propose();
        led.run_for(heartbeat);
        if (i >= 5) led.leader.complete_write();
    }
    EXPECT_TRUE(led.leader->is_leader());
    EXPECT_EQ(led.leader->writes_in_flight(), 5U);
}

// --- uninterrupted contact (S4)

TEST(RaftLeadership, CountsItsContactFromTheElection) {
    Leading led{1, 2, 3};
    const auto since = led.leader->contact_since();
    EXPECT_LE(since, led.leader.now);
    led.run_for(5 * election_timeout);
    EXPECT_EQ(led.leader->contact_since(), since);
    EXPECT_EQ(led.cluster[n2]->contact_since(), Instant::never());
}

TEST(RaftLeadership, AGapInItsOwnLoopStartsTheCountAgain) {  // P8
    RaftCluster cluster{1};
    auto& leader = cluster.elect(n1);
    const auto since = leader->contact_since();
    leader.timer_in(election_timeout);
    EXPECT_EQ(leader->contact_since(), since);
    leader.timer_in(election_timeout + 1ns);
    EXPECT_EQ(leader->contact_since(), leader.now);
}

// --- leadership transfer (thesis 3.10)

TEST(RaftTransfer, HandsLeadershipToTheTarget) {
    Leading led{1, 2, 3};
    EXPECT_TRUE(led.leader.transfer_to(n3));
    EXPECT_TRUE(led.leader->is_transferring());
    EXPECT_TRUE(led.leader.noted(Note::Kind::transfer_started));
    led.cluster.settle();
    EXPECT_TRUE(led.cluster[n3]->is_leader());
    EXPECT_EQ(led.cluster[n3]->term(), Term{3});
    EXPECT_EQ(led.leader->leader(), n3);
    EXPECT_FALSE(led.leader->is_transferring());
}

TEST(RaftTransfer, IsRefusedByWhoDoesNotLeadAndToWhoCannot) {
    auto configuration = voters({1, 2, 3});
    configuration.learners = members({4});
    RaftCluster cluster{configuration, options_of(n1)};
    auto& leader = cluster.elect(n1);
    EXPECT_FALSE(cluster[n2].transfer_to(n3));
    EXPECT_FALSE(leader.transfer_to(n1));
    EXPECT_FALSE(leader.transfer_to(n4));
    EXPECT_FALSE(leader.transfer_to(n5));
    EXPECT_FALSE(leader->is_transferring());
}

// B-V13: it is asked only when it has everything on disk.
TEST(RaftTransfer, WaitsUntilTheTargetHasEverything) {
    Leading led{1, 2, 3};
    led.leader.propose();
    led.leader.transfer_to(n3);
    EXPECT_EQ(led.leader.sent_count<TimeoutNow>(n3), 0U);
    led.leader.receive(n3, accepts(2, 3));
    const auto request = led.leader.newest<TimeoutNow>(n3);
    EXPECT_EQ(request.last, log_id(2, 3));
    EXPECT_EQ(request.term, Term{2});
    led.leader.receive(n3, accepts(2, 3));
    EXPECT_EQ(led.leader.sent_count<TimeoutNow>(n3), 0U);
}

// B-V12
TEST(RaftTransfer, TakesNoProposalsMeanwhile) {
    Leading led{1, 2, 3};
    led.cluster.cut(n3);
    led.leader.transfer_to(n3);
    EXPECT_EQ(led.leader.propose(), std::nullopt);
    EXPECT_EQ(led.leader->log().last(), log_id(2, 2));
}

// B-V12: if it fails, everything is as before.
TEST(RaftTransfer, FailsByItsDeadline) {
    Leading led{1, 2, 3};
    led.cluster.cut(n3);
    led.leader.transfer_to(n3);
    led.run_for(election_timeout - heartbeat);
    EXPECT_TRUE(led.leader->is_transferring());
    led.run_for(heartbeat);
    EXPECT_FALSE(led.leader->is_transferring());
    EXPECT_TRUE(led.leader.noted(Note::Kind::transfer_failed));
    EXPECT_TRUE(led.leader->is_leader());
    EXPECT_TRUE(led.leader.propose());
}

TEST(RaftTransfer, MayBeTriedAgainAfterItFailed) {
    Leading led{1, 2, 3};
    led.cluster.cut(n3);
    led.leader.transfer_to(n3);
    led.run_for(election_timeout);
    led.cluster.heal(n3);
    led.cluster.beat(n1);
    EXPECT_TRUE(led.leader.transfer_to(n3));
    led.cluster.settle();
    EXPECT_TRUE(led.cluster[n3]->is_leader());
}

// B-V12: nothing of a transfer survives a change of role.
TEST(RaftTransfer, EndsWithTheLeadership) {
    Leading led{1, 2, 3};
    led.leader.propose();
    led.leader.transfer_to(n3);
    led.leader.receive(n2, append(3, log_id(2, 2)));
    EXPECT_FALSE(led.leader->is_transferring());
    led.cluster.settle();
    led.cluster.elect(n1);
    EXPECT_FALSE(led.leader->is_transferring());
    EXPECT_TRUE(led.leader.propose());
}

TEST(RaftTransfer, OnlyTheOwnLeaderMayAskForIt) {
    Leading led{1, 2, 3};
    auto& target = led.cluster[n3];
    target.receive(n2, TimeoutNow{Term{2}, log_id(2, 2)});
    EXPECT_EQ(target->role(), Role::follower);
    target.receive(n1, TimeoutNow{Term{1}, log_id(2, 2)});
    EXPECT_EQ(target->role(), Role::follower);
    target.receive(n1, TimeoutNow{Term{2}, log_id(2, 2)});
    EXPECT_EQ(target->role(), Role::candidate);
}

// B-V13: an old request, which names another log.
TEST(RaftTransfer, ATargetThatIsElsewhereByNowDoesNotCampaign) {
    Leading led{1, 2, 3};
    auto& target = led.cluster[n3];
    led.leader.propose();
    led.cluster.settle();
    target.receive(n1, TimeoutNow{Term{2}, log_id(2, 2)});
    target.receive(n1, TimeoutNow{Term{2}, log_id(2, 4)});
    EXPECT_EQ(target->role(), Role::follower);
}

// B-V13, B-D18
TEST(RaftTransfer, ATargetWhoseLogIsNotDurableDoesNotCampaign) {
    Leading led{1, 2, 3};
    auto& target = led.cluster[n3];
    target.receive(n1, append(2, log_id(2, 2), {commands(log_id(2, 3))}));
    target.receive(n1, TimeoutNow{Term{2}, log_id(2, 3)});
    EXPECT_EQ(target->role(), Role::follower);
    target.complete_writes();
    target.receive(n1, TimeoutNow{Term{2}, log_id(2, 3)});
    EXPECT_EQ(target->role(), Role::candidate);
}

// B-V10: a leader that is asked to campaign does not, and a candidate does not campaign twice.
TEST(RaftTransfer, ARequestToWhoDoesNotFollowChangesNothing) {
    Leading led{1, 2, 3};
    led.leader.receive(n2, TimeoutNow{Term{2}, log_id(2, 2)});
    EXPECT_TRUE(led.leader->is_leader());
    auto& target = led.cluster[n3];
    target.receive(n1, TimeoutNow{Term{2}, log_id(2, 2)});
    target.receive(n1, TimeoutNow{Term{2}, log_id(2, 2)});
    EXPECT_EQ(target->term(), Term{3});
}

TEST(RaftTransfer, SkipsTheQuestionButNotTheDurableVote) {
    Leading led{1, 2, 3};
    auto& target = led.cluster[n3];
    target.receive(n1, TimeoutNow{Term{2}, log_id(2, 2)});
    EXPECT_TRUE(target.sent.empty());
    target.complete_writes();
    EXPECT_TRUE(target.newest<VoteRequest>(n2).transfer);
}

}  // namespace
}  // namespace mortise::core::test
