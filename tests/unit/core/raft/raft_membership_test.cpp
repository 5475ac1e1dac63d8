#include <gtest/gtest.h>

#include "core/raft/quorum.hpp"
#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

const Member newcomer = member(4);

bool refused(const ChangeResult& result, MembershipRefusal why) {
    const auto* refusal = std::get_if<MembershipRefusal>(&result);
    return refusal != nullptr && *refusal == why;
}

bool accepted(const ChangeResult& result) {
    return std::holds_alternative<LogIndex>(result);
}

// Node 1 leads three voters; node 4 is a learner whose disk is empty.
struct Three {
    static Configuration with_four() {
        auto four = voters({1, 2, 3});
        four.learners = members({4});
        return four;
    }
    RaftCluster cluster{with_four(), options_of(n1), {{n4, RaftState{}}}};
    HandDriven& leader{cluster.elect(n1)};
};

struct Changing {
    RaftCluster cluster{1, 2, 3};
    HandDriven& leader{cluster.elect(n1)};
};

// The configuration that three voters bootstrapped and then changed.
Configuration changed_to(std::initializer_list<std::uint64_t> ids) {
    auto changed = voters(ids);
    changed.founders = members({1, 2, 3});
    return changed;
}

// --- what is refused

TEST(RaftMembership, OnlyALeaderChangesIt) {
    Changing it;
    EXPECT_TRUE(refused(it.cluster[n2].add_learner(newcomer), MembershipRefusal::not_leader));
    EXPECT_TRUE(refused(it.cluster[n2].remove(n3), MembershipRefusal::not_leader));
}

// B-M1: a change that an earlier leader began may be committed already.
TEST(RaftMembership, ANewLeaderChangesNothingBeforeItsFirstCommit) {
    Changing it;
    it.cluster.stall_disk(n1);
    it.cluster.stall_disk(n2);
    it.cluster.stall_disk(n3);
    auto& next = it.cluster[n2];
    it.cluster.pass(3 * election_timeout);
    next.timer();
    for (int i = 0; i < 6 && !next->is_leader(); ++i) {
        it.cluster.deliver();
        for (const auto id : {n1, n2, n3})
            it.cluster[id].complete_writes();
    }
    ASSERT_TRUE(next->is_leader());
    ASSERT_FALSE(next->has_committed_own_term());
    EXPECT_TRUE(refused(next.add_learner(newcomer), MembershipRefusal::leader_not_ready));
}

// B-M2, B-M3: for every kind of change.
TEST(RaftMembership, OneChangeAtATime) {
    Changing it;
    ASSERT_TRUE(accepted(it.leader.add_learner(newcomer)));
    EXPECT_TRUE(refused(it.leader.add_learner(member(5)), MembershipRefusal::change_in_progress));
    EXPECT_TRUE(refused(it.leader.remove(n3), MembershipRefusal::change_in_progress));
    it.cluster.settle();
    EXPECT_TRUE(accepted(it.leader.remove(n3)));
    EXPECT_TRUE(it.leader->configuration().is_joint());
    EXPECT_TRUE(refused(it.leader.add_learner(member(5)), MembershipRefusal::change_in_progress));
}

// A configured voter that never received the outcome learns it from the first entry, however long
// ago the bootstrap was (S47).
TEST(RaftMembership, TheFirstVotersAreNotForgotten) {
    Changing it;
    const auto founding = voters({1, 2, 3});
    ASSERT_TRUE(accepted(it.leader.add_learner(newcomer)));
    EXPECT_EQ(it.leader->configuration().founding(), founding);
    it.cluster.settle();
    ASSERT_TRUE(accepted(it.leader.remove(n3)));
    it.cluster.settle();
    ASSERT_EQ(it.leader->configuration().voters, members({1, 2}));
    EXPECT_EQ(it.leader->configuration().founding(), founding);
}

TEST(RaftMembership, RefusesWhatMakesNoSense) {
    Changing it;
    EXPECT_TRUE(refused(it.leader.add_learner(member(2)), MembershipRefusal::already_member));
    EXPECT_TRUE(refused(it.leader.promote(n2), MembershipRefusal::already_voter));
    EXPECT_TRUE(refused(it.leader.promote(n5), MembershipRefusal::unknown_member));
    EXPECT_TRUE(refused(it.leader.remove(n5), MembershipRefusal::unknown_member));
}

TEST(RaftMembership, TheLastVoterStays) {
    RaftCluster cluster{1};
    auto& alone = cluster.elect(n1);
    EXPECT_TRUE(refused(alone.remove(n1), MembershipRefusal::last_voter));
}

// A joint configuration that cannot be committed cannot be left either.
TEST(RaftMembership, NothingIsBegunThatCouldNotBeFinished) {  // B-M13
    Changing it;
    it.cluster.cut(n3);
    for (int i = 0; i < 15; ++i)
        it.cluster.beat(n1);
    ASSERT_TRUE(it.leader->is_leader());
    EXPECT_TRUE(refused(it.leader.remove(n2), MembershipRefusal::would_lose_quorum));
    EXPECT_TRUE(accepted(it.leader.remove(n3)));
}

TEST(RaftMembership, ALearnerThatIsBehindIsNotPromoted) {
    Three it;
    it.cluster.settle();
    it.cluster.cut(n4);
    for (int i = 0; i < 40; ++i)
        it.leader.propose();
    it.cluster.settle();
    EXPECT_TRUE(refused(it.leader.promote(n4), MembershipRefusal::not_caught_up));
    it.cluster.heal(n4);
    it.cluster.beat(n1);
    EXPECT_TRUE(accepted(it.leader.promote(n4)));
}

// S47: a node whose own log does not show that there is a cluster takes part in no election,
// however short the log is.
TEST(RaftMembership, ALearnerThatHasNothingIsNotPromoted) {  // P4
    RaftCluster cluster{Three::with_four(), options_of(n1), {{n4, RaftState{}}}};
    cluster.cut(n4);
    auto& leader = cluster.elect(n1);
    // It has the entries, and its disk does not progress.
    leader.receive(n4, accepts(leader->term().raw(), 0));
    ASSERT_EQ(leader->progress_of(n4)->state, Progress::State::replicate);
    EXPECT_TRUE(refused(leader.promote(n4), MembershipRefusal::not_caught_up));
    cluster.heal(n4);
    cluster.beat(n1);
    EXPECT_TRUE(accepted(leader.promote(n4)));
}

TEST(RaftMembership, AnEighthVoterIsRefused) {
    auto many = voters({1, 2, 3, 4, 5, 6, 7});
    many.learners = members({8});
    RaftCluster cluster{many, options_of(n1), {{NodeId{8}, RaftState{}}}};
    auto& leader = cluster.elect(n1);
    cluster.settle();
    EXPECT_TRUE(refused(leader.promote(NodeId{8}), MembershipRefusal::too_many_members));
}

// --- joint consensus

// B-M4: in force where it is appended, not where it is committed.
TEST(RaftMembership, AJointConfigurationCountsFromItsAppendAndIsLeftByItself) {
    Three it;
    it.cluster.settle();
    ASSERT_TRUE(accepted(it.leader.promote(n4)));
    EXPECT_TRUE(it.leader->configuration().is_joint());
    EXPECT_TRUE(it.leader->configuration().is_voter(n4));
    it.cluster.settle();
    it.cluster.beat(n1);
    for (const auto id : {n1, n2, n3, n4}) {
        EXPECT_EQ(it.cluster[id]->configuration(), changed_to({1, 2, 3, 4})) << id.raw();
        EXPECT_TRUE(it.cluster[id]->is_configuration_committed()) << id.raw();
    }
}

// B-M5
TEST(RaftMembership, ANewLeaderLeavesTheJointConfiguration) {
    Three it;
    it.cluster.settle();
    ASSERT_TRUE(accepted(it.leader.promote(n4)));
    it.leader.complete_writes();
    it.cluster.deliver();
    for (const auto id : {n2, n3, n4})
        it.cluster[id].complete_writes();
    it.cluster.cut(n1);
    ASSERT_TRUE(it.cluster[n2]->configuration().is_joint());
    it.cluster.elect(n2);
    it.cluster.settle();
    EXPECT_EQ(it.cluster[n2]->configuration(), changed_to({1, 2, 3, 4}));
}

// B-M11: a half that can communicate is not a majority of both.
TEST(RaftMembership, WhileJointTheOldMajorityAloneCommitsNothing) {
    RaftCluster cluster{1, 2, 3, 4, 5};
    auto& leader = cluster.elect(n1);
    cluster.cut(n4);
    cluster.cut(n5);
    const auto commit = leader->commit_index();
    leader.configure({{7, 9}, members({1, 4, 5}), members({1, 2, 3}), {}});
    cluster.settle();
    EXPECT_EQ(leader->commit_index(), commit);
    cluster.heal(n4);
    cluster.beat(n1);
    cluster.beat(n1);
    EXPECT_GT(leader->commit_index(), commit);
}

// B-M7
TEST(RaftMembership, AConfigurationThatIsTruncatedIsNoneAnyMore) {
    HandDriven node{options_of(n1), disk_with(voters({1, 2, 3}), {Term{1}, {}}, {})};
    node.receive(n2, append(1, log_id(1, 1), {configures(log_id(1, 2), voters({1, 4, 5}))}));
    node.complete_writes();
    ASSERT_TRUE(node->configuration().is_voter(n4));
    node.receive(n3, append(2, log_id(1, 1), {commands(log_id(2, 2))}));
    EXPECT_EQ(node->configuration(), voters({1, 2, 3}));
}

// --- removal

// B-M9: it leads without counting itself, and transfers leadership when the removal is committed.
TEST(RaftMembership, ALeaderThatIsRemovedHandsOver) {
    Changing it;
    ASSERT_TRUE(accepted(it.leader.remove(n1)));
    it.cluster.settle();
    it.cluster.settle();
    EXPECT_FALSE(it.leader->is_leader());
    EXPECT_FALSE(it.leader->is_member());
    EXPECT_TRUE(it.leader.noted(Note::Kind::removed));
    EXPECT_EQ(it.leader->deadline(), Instant::never());
    EXPECT_NE(it.cluster[n2]->is_leader(), it.cluster[n3]->is_leader());
    EXPECT_EQ(it.cluster[n2]->configuration(), changed_to({2, 3}));
}

TEST(RaftMembership, ALeaderThatIsRemovedDoesNotCountItself) {  // B-M9
    Changing it;
    ASSERT_TRUE(accepted(it.leader.remove(n1)));
    it.cluster.stall_disk(n3);
    it.cluster.settle();
    // Both remaining voters are needed.
    EXPECT_TRUE(it.leader->configuration().is_joint());
    EXPECT_FALSE(it.leader->is_configuration_committed());
    EXPECT_TRUE(it.leader->is_leader());
}

TEST(RaftMembership, ARemovedNodeIsInformedAndIsQuiet) {  // B-M10
    Changing it;
    ASSERT_TRUE(accepted(it.leader.remove(n3)));
    it.cluster.settle();
    it.cluster.beat(n1);
    auto& gone = it.cluster[n3];
    EXPECT_TRUE(gone.noted(Note::Kind::removed));
    EXPECT_EQ(it.leader->progress_of(n3), nullptr);
    gone.timer_when_due();
    EXPECT_TRUE(gone.sent.empty());
    EXPECT_EQ(gone->deadline(), Instant::never());
}

TEST(RaftMembership, OneThatDoesNotAnswerIsLetGoAll) {
    Changing it;
    it.cluster.cut(n3);
    ASSERT_TRUE(accepted(it.leader.remove(n3)));
    for (int i = 0; i < 15; ++i)
        it.cluster.beat(n1);
    EXPECT_EQ(it.leader->progress_of(n3), nullptr);
}

// No node informs it again: that the entry is committed is on its own disk, or was reported before.
TEST(RaftMembership, ARemovedNodeKnowsItInALaterStart) {
    Changing it;
    ASSERT_TRUE(accepted(it.leader.remove(n3)));
    it.cluster.settle();
    it.cluster.beat(n1);
    auto disk = it.cluster[n3].disk().state();
    ASSERT_FALSE(it.cluster[n3]->is_member());
    disk.applied = it.cluster[n3]->commit_index();
    HandDriven again{options_of(n3), disk};
    EXPECT_TRUE(again->is_removed());
    again.timer();
    EXPECT_TRUE(again.noted(Note::Kind::removed));
    disk.applied = {};
    HandDriven unsure{options_of(n3), disk};
    unsure.timer();
    EXPECT_FALSE(unsure->is_removed());
}

// It is being added, and its entries are older.
TEST(RaftMembership, ANodeThatWasNeverAMemberWasNotRemoved) {
    auto disk = disk_with(voters({1, 2, 3}), {Term{1}, {}}, {});
    HandDriven learner{options_of(n4), disk};
    learner.timer();
    EXPECT_FALSE(learner->is_member());
    EXPECT_FALSE(learner->is_removed());
}

// B-M10: it cannot know that by itself. A node that knows informs it, and it stops asking for
// votes.
TEST(RaftMembership, ADismissedNodeStopsCampaigning) {
    HandDriven node{options_of(n3), disk_with(voters({1, 2, 3}), {Term{1}, {}}, {})};
    node.receive(n1, NotAMember{Term{1}, log_id(1, 1)});
    EXPECT_FALSE(node.noted(Note::Kind::removed));  // our own configuration is as new
    for (int i = 0; i < 3; ++i)
        node.receive(n1, NotAMember{Term{1}, log_id(1, 5)});
    EXPECT_FALSE(node.noted(Note::Kind::removed));  // one member may be wrong
    EXPECT_NE(node->deadline(), Instant::never());
    node.receive(n2, NotAMember{Term{1}, log_id(1, 5)});
    EXPECT_TRUE(node.noted(Note::Kind::removed));
    EXPECT_EQ(node->deadline(), Instant::never());
    // It was added again, and the leader knows that.
    node.receive(n1, append(1, log_id(1, 1)));
    EXPECT_NE(node->deadline(), Instant::never());
}

TEST(RaftMembership, TheOnlyOtherMemberDismissesAlone) {
    HandDriven node{options_of(n2), disk_with(voters({1, 2}), {Term{1}, {}}, {})};
    node.receive(n1, NotAMember{Term{1}, log_id(1, 5)});
    EXPECT_TRUE(node->is_removed());
}

TEST(RaftMembership, ACandidateWithALongerLogMayBeAVoter) {
    HandDriven node{options_of(n1), disk_with(voters({1, 2, 3}), {Term{1}, {}}, {})};
    node.receive(n4, PreVoteRequest{Term{1}, 1, log_id(1, 1)});
    EXPECT_FALSE(node.newest<PreVoteReply>(n4).granted);
    node.receive(n4, PreVoteRequest{Term{1}, 1, log_id(1, 2)});
    EXPECT_TRUE(node.newest<PreVoteReply>(n4).granted);
}

// --- another directory with the same id (B-M12)

Member reborn(std::uint64_t id) {
    auto again = member(id);
    again.incarnation = Incarnation{900 + id};
    return again;
}

TEST(RaftMembership, ANewIncarnationBeginsWithNothing) {  // B-M12
    Changing it;
    ASSERT_GT(it.leader->progress_of(n3)->match, LogIndex{});
    ASSERT_TRUE(accepted(it.leader.add_learner(reborn(3))));
    EXPECT_EQ(it.leader->progress_of(n3)->match, LogIndex{});
    EXPECT_FALSE(it.leader->configuration().is_voter(n3));
}

TEST(RaftMembership, NobodySpeaksForADiskThatIsGone) {  // P4
    Changing it;
    ASSERT_TRUE(accepted(it.leader.add_learner(reborn(3))));
    it.cluster.settle();
    it.cluster.cut(n2);
    const auto commit = it.leader->commit_index();
    it.leader.propose();
    it.leader.complete_writes();
    it.leader.receive(n3, accepts(it.leader->term().raw(), it.leader->log().last().index.raw()));
    EXPECT_EQ(it.leader->commit_index(), commit);
}

TEST(RaftMembership, ANewIncarnationTakesThePlaceOfTheOldOne) {
    auto present = voters({1, 2, 3});
    present.learners = {reborn(3)};
    const auto joint = with_promoted(present, n3);
    EXPECT_TRUE(joint.is_voter(n3));
    const auto three = [](NodeId id) { return id == n1 || id == n3; };
    EXPECT_FALSE(has_quorum(joint, three));  // among the outgoing voters only node 1 agrees
    EXPECT_TRUE(has_quorum(without_outgoing(joint), three));
    EXPECT_EQ(without_outgoing(joint).find(n3)->incarnation, reborn(3).incarnation);
}

TEST(RaftMembership, ANodeThatIsNotTheIncarnationOfTheListDoesNotCampaign) {
    auto options = options_of(n3);
    options.incarnation = reborn(3).incarnation;
    HandDriven node{options, disk_with(voters({1, 2, 3}), {Term{1}, {}}, {})};
    EXPECT_EQ(node->deadline(), Instant::never());
}

}  // namespace
}  // namespace mortise::core::test
