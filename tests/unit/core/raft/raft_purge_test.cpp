#include <gtest/gtest.h>

#include "core/base/check.hpp"
#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

// Node 1 leads with five entries that all nodes have, and five more that node 3 does not have.
struct Behind {
    Behind() {
        propose_five();
        cluster.cut(n3);
        propose_five();
    }
    void propose_five() {
        for (int i = 0; i < 5; ++i)
            leader.propose();
        cluster.settle();
    }

    RaftCluster cluster{1, 2, 3};
    HandDriven& leader{cluster.elect(n1)};
};

TEST(RaftPurge, KeepsWhatIsNotCommitted) {
    Behind behind;
    EXPECT_EQ(behind.leader->commit_index(), LogIndex{12});
    behind.leader.propose();
    EXPECT_THROW(behind.leader.purge_to(13), InvariantBroken);
}

TEST(RaftPurge, GoesUnnoticedByThoseWhoHaveEverything) {
    Behind behind;
    behind.leader.purge_to(7);
    EXPECT_EQ(behind.leader->log().first_index(), LogIndex{8});
    EXPECT_FALSE(behind.leader.noted(Note::Kind::peer_cut_off));
    behind.cluster.heal(n3);
    behind.cluster.beat(n1);
    EXPECT_EQ(behind.cluster[n3]->commit_index(), LogIndex{12});
}

TEST(RaftPurge, AFollowerThatNeedsPurgedEntriesIsCutOffWithANote) {
    Behind behind;
    behind.leader.purge_to(10);
    behind.cluster.heal(n3);
    behind.cluster.beat(n1);
    ASSERT_TRUE(behind.leader.noted(Note::Kind::peer_cut_off));
    EXPECT_EQ(behind.leader.notes.back().peer, n3);
    EXPECT_EQ(behind.leader->progress_of(n3)->state, Progress::State::cut_off);
    EXPECT_EQ(behind.cluster[n3]->log().last(), log_id(2, 7));
    behind.leader.purge_to(12);
    for (int i = 0; i < 20; ++i)
        behind.cluster.beat(n1);
    EXPECT_EQ(std::ranges::count(behind.leader.notes, Note::Kind::peer_cut_off, &Note::kind), 1);
}

// B-S7: otherwise it would campaign repeatedly.
TEST(RaftPurge, HeartbeatsGoOnToWhoIsCutOff) {
    Behind behind;
    behind.leader.purge_to(10);
    behind.cluster.heal(n3);
    for (int i = 0; i < 50; ++i) {
        behind.cluster.beat(n1);
        if (behind.cluster[n3]->deadline() <= behind.cluster[n3].now) behind.cluster[n3].timer();
    }
    EXPECT_EQ(behind.cluster[n3]->leader(), n1);
    EXPECT_TRUE(behind.leader->is_leader());
}

// It still belongs to the cluster, so its answers count.
TEST(RaftPurge, ACutOffFollowerStillConfirmsReadsAndContact) {  // B-S11
    Behind behind;
    behind.leader.purge_to(10);
    behind.cluster.heal(n3);
    behind.cluster.beat(n1);
    behind.cluster.cut(n2);
    for (int i = 0; i < 20; ++i)
        behind.cluster.beat(n1);
    ASSERT_TRUE(behind.leader->is_leader());
    behind.leader.read(7);
    behind.cluster.settle();
    EXPECT_EQ(behind.leader.reads.size(), 1U);
    behind.leader.propose();
    behind.cluster.settle();
    EXPECT_EQ(behind.leader->commit_index(), LogIndex{12});
}

TEST(RaftPurge, TheOthersGoOnWithoutWhoIsCutOff) {
    Behind behind;
    behind.leader.purge_to(12);
    behind.cluster.heal(n3);
    behind.propose_five();
    EXPECT_EQ(behind.leader->commit_index(), LogIndex{17});
    EXPECT_EQ(behind.cluster[n2]->commit_index(), LogIndex{17});
}

TEST(RaftPurge, AnotherLeaderThatKeptMoreBringsItBack) {
    Behind behind;
    behind.leader.purge_to(10);
    behind.cluster.heal(n3);
    behind.cluster.beat(n1);
    behind.cluster.elect(n2);
    EXPECT_EQ(behind.cluster[n3]->log().last(), log_id(3, 13));
}

// B-S7: a follower may recover from being cut off. Its entries were in flight when they were purged
// here.
TEST(RaftPurge, AFollowerThatHasEverythingIsNotCutOffAnyLonger) {
    Behind behind;
    behind.cluster.heal(n3);
    // It reports its position, and receives the rest.
    behind.leader.timer_in(heartbeat);
    behind.cluster.deliver();
    behind.cluster.deliver();
    ASSERT_EQ(behind.leader->progress_of(n3)->state, Progress::State::probe);
    behind.leader.purge_to(12);
    ASSERT_EQ(behind.leader->progress_of(n3)->state, Progress::State::cut_off);
    behind.cluster.settle();
    ASSERT_EQ(behind.cluster[n3]->log().last(), log_id(2, 12));
    behind.propose_five();
    EXPECT_EQ(behind.leader->progress_of(n3)->state, Progress::State::replicate);
    EXPECT_EQ(behind.cluster[n3]->commit_index(), LogIndex{17});
}

// B-C10: it accepted, but has less on disk than is kept here. A new leader asks for its position;
// its log is complete, only its disk is slow.
TEST(RaftPurge, AnAnswerFromBelowTheKeptLogIsNoMistakeOfOurs) {
    RaftCluster cluster{1, 2, 3};
    cluster.stall_disk(n3);
    cluster[n3].complete_writes();
    auto& slow = cluster[n3];
    auto& leader = cluster[n1];
    // Node 2 led: its entries are in the logs of all nodes, and on the disks of two.
    slow.receive(n2, append(1, log_id(1, 1), {commands(log_id(1, 2)), commands(log_id(1, 3))}, 1));
    leader.receive(n2,
                   append(1, log_id(1, 1), {commands(log_id(1, 2)), commands(log_id(1, 3))}, 3));
    leader.complete_writes();
    leader.sent.clear();
    leader.purge_to(3);
    cluster.cut(n3);
    cluster[n2].receive(
        n1, append(1, log_id(1, 1), {commands(log_id(1, 2)), commands(log_id(1, 3))}, 3));
    cluster[n2].complete_writes();
    cluster.elect(n1);
    cluster.heal(n3);
    leader.timer_in(heartbeat);
    leader.receive(n3, accepts(2, 1));
    leader.propose();
    EXPECT_TRUE(leader->is_leader());
    leader.receive(n3, accepts(2, 3));
    leader.receive(n3, accepts(2, leader->log().last().index.raw()));
    EXPECT_EQ(leader->progress_of(n3)->state, Progress::State::replicate);
}

TEST(RaftPurge, AFollowerForgetsWhatItsLeaderSaysAllHave) {
    Behind behind;
    auto& follower = behind.cluster[n2];
    EXPECT_EQ(follower->replicated_index(), behind.leader->replicated_index());
    follower.purge_to(7);
    behind.propose_five();
    EXPECT_EQ(follower->commit_index(), LogIndex{17});
}

// The configuration in force stays known when its entry is purged.
TEST(RaftPurge, KeepsTheConfigurationInForce) {
    RaftCluster cluster{1, 2, 3};
    auto& leader = cluster.elect(n1);
    auto grown = voters({1, 2, 3});
    grown.learners = members({4});
    leader.configure(grown);
    cluster.settle();
    leader.configure(voters({1, 2, 3}));
    leader.propose();
    cluster.settle();
    for (const std::uint64_t index : {2U, 3U, 4U, 5U}) {
        leader.purge_to(index);
        EXPECT_EQ(leader->configuration(), voters({1, 2, 3}));
    }
}

TEST(RaftPurge, KnowsTheConfigurationOfEachPlaceItKeeps) {
    RaftCluster cluster{1, 2, 3};
    auto& leader = cluster.elect(n1);
    auto grown = voters({1, 2, 3});
    grown.learners = members({4});
    leader.configure(grown);  // index 3
    cluster.settle();
    leader.configure(voters({1, 2, 3}));
    leader.propose();
    cluster.settle();
    EXPECT_EQ(leader->base(), LogBase{});
    EXPECT_EQ(leader->configuration_at(LogIndex{2}), voters({1, 2, 3}));
    EXPECT_EQ(leader->configuration_at(LogIndex{3}), grown);
    EXPECT_EQ(leader->configuration_at(LogIndex{4}), voters({1, 2, 3}));
    leader.purge_to(3);
    EXPECT_EQ(leader->base(), (LogBase{log_id(2, 3), grown}));
    EXPECT_EQ(leader->configuration_at(LogIndex{3}), grown);
    EXPECT_EQ(leader->configuration_at(LogIndex{5}), voters({1, 2, 3}));
    EXPECT_THROW((void)leader->configuration_at(LogIndex{2}), InvariantBroken);
}

TEST(RaftPurge, ATruncationBringsBackAConfigurationWhoseEntryIsPurged) {  // B-M7
    auto grown = voters({1, 2, 3});
    grown.learners = members({4});
    HandDriven node{options_of(n1), disk_with(voters({1, 2, 3}), {Term{1}, {}}, {})};
    node.receive(
        n2,
        append(1, log_id(1, 1),
               {configures(log_id(1, 2), grown), configures(log_id(1, 3), voters({1, 2, 3}))}, 2));
    node.purge_to(2);
    EXPECT_EQ(node->configuration(), voters({1, 2, 3}));
    node.receive(n3, append(2, log_id(1, 2), {commands(log_id(2, 3))}));
    EXPECT_EQ(node->configuration(), grown);
}

TEST(RaftPurge, ANodeStartsFromAPurgedLog) {  // B-F11
    RaftState state;
    state.hard_state = {Term{4}, {}};
    state.base = log_id(3, 10);
    state.entries = {commands(log_id(4, 11))};
    state.applied = LogIndex{10};
    state.configuration = voters({1});
    HandDriven node{options_of(n1), state};
    EXPECT_EQ(node->commit_index(), LogIndex{10});
    EXPECT_EQ(node->durable_index(), LogIndex{11});
    node.timer_when_due();
    node.complete_writes();
    EXPECT_EQ(node->commit_index(), LogIndex{12});
    EXPECT_EQ(node.committed.front().id, log_id(4, 11));
}

// B-D20, B-D24: a disk whose log ends before the applied index of its state.
TEST(RaftPurge, ANodeRefusesALogThatEndsBeforeItsState) {
    auto state = disk_with(voters({1, 2, 3}), {Term{1}, {}}, {1});
    state.applied = LogIndex{3};
    EXPECT_THROW((HandDriven{options_of(n1), state}), InvariantBroken);
}

// A single voter has everything everywhere that it has on disk and committed.
TEST(RaftPurge, ASingleVoterKeepsNothingForOthers) {
    RaftCluster cluster{1};
    auto& leader = cluster.elect(n1);
    leader.propose();
    cluster.settle();
    cluster.beat(n1);
    EXPECT_EQ(leader->commit_index(), LogIndex{3});
    EXPECT_EQ(leader->replicated_index(), LogIndex{3});
}

}  // namespace
}  // namespace mortise::core::test
