// Directories that were rolled back, and copies of directories: nothing that they say counts (P4).
#include <string>

#include <gtest/gtest.h>

#include "core/base/check.hpp"
#include "core/codec/configuration_codec.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

// Led by node 1; there is an image of node 2 that is older than what it acknowledged.
class NodeCoreLives : public testing::Test {
protected:
    NodeCoreLives() {
        cluster.connect_all();
        cluster.run_for(5 * heartbeat);
        image = cluster[n2].disk();
        for (std::uint64_t tag = 1; tag <= 5; ++tag)
            cluster[n1].acquire(tag, "name" + std::to_string(tag));
        cluster.run_for(3 * heartbeat);
    }
    void meet() {
        cluster.connect_all();
        cluster.run_for(3 * heartbeat);
    }
    // A leader's word about a directory is evidence only for statements that come much later.
    void wait_for_a_second_word() { cluster.run_for(7 * election_timeout); }
    [[nodiscard]] LogIndex committed() { return cluster[n1].raft().commit_index(); }

    NodeCluster cluster{1, 2, 3};
    Disk image;
};

TEST_F(NodeCoreLives, AnHonestRestartIsNoneOfThem) {
    cluster.crash_and_restart(n2);
    meet();
    EXPECT_FALSE(cluster[n2].superseded);
    EXPECT_EQ(cluster[n2].raft().commit_index(), committed());
}

// The image was taken of the running node: its next start has an epoch that no node knows.
TEST_F(NodeCoreLives, ALeaderFindsWhoLacksWhatItAcknowledged) {  // B-D20
    cluster.roll_back(n2, image, 2);
    meet();
    EXPECT_TRUE(cluster[n1].noted(Note::Kind::peer_forgot));
    wait_for_a_second_word();
    EXPECT_TRUE(cluster[n2].superseded);
}

// It says nothing more after what it acknowledged was committed.
TEST_F(NodeCoreLives, ALeaderFindsWhoLacksWhatWasCommittedLater) {  // P8
    const auto before = cluster[n2].disk();
    cluster.disconnect(n1, n3);
    cluster[n1].acquire(6, "late");
    cluster.deliver();
    cluster[n2].complete_writes();
    cluster.deliver();
    const auto last = cluster[n1].raft().log().last().index;
    ASSERT_EQ(cluster[n1].raft().progress_of(n2)->match, last);
    ASSERT_LT(committed(), last);
    cluster[n1].complete_writes();
    ASSERT_EQ(committed(), last);
    cluster.roll_back(n2, before, 2);
    meet();
    EXPECT_TRUE(cluster[n1].noted(Note::Kind::peer_forgot));
}

// A message to a slow peer may be dropped.
TEST_F(NodeCoreLives, ItIsToldAgain) {
    cluster.roll_back(n2, image, 2);
    cluster.connect(n1, n2);
    std::size_t lost = 0;
    for (int i = 0; i < 20 && lost == 0; ++i) {
        cluster.deliver();
        cluster[n2].complete_writes();
        lost = cluster[n1].take<Superseded>(n2).size();
        cluster.pass(heartbeat);
        cluster[n1].timer();
        lost += cluster[n1].take<Superseded>(n2).size();
    }
    ASSERT_NE(lost, 0U);
    cluster.connect(n2, n3);
    wait_for_a_second_word();
    EXPECT_TRUE(cluster[n2].superseded);
}

// The image is older than the membership of the node that detects it, which could be anybody.
// Members that the image knows have learned from the leader what it had acknowledged.
TEST_F(NodeCoreLives, WhoWasNoMemberThenIsNotBelievedAlone) {
    cluster.add(4, {});
    cluster.connect_all();
    auto& first = cluster[n1];
    const auto change = [&](MembershipGoal goal) {
        first.call(ChangeCall{CallTag{50}, std::move(goal), first.now + 20 * election_timeout});
        cluster.run_for(5 * heartbeat);
    };
    change({MembershipGoal::Kind::learner, n4, "host4:1"});
    change({MembershipGoal::Kind::voter, n4, {}});
    change({MembershipGoal::Kind::leader, n4, {}});
    ASSERT_TRUE(cluster[n4].raft().is_leader());
    cluster[n4].acquire(60, "another");
    cluster.run_for(3 * heartbeat);
    cluster.roll_back(n2, image, 2);
    cluster.connect(n2, n4);
    cluster.run_for(3 * election_timeout);
    EXPECT_TRUE(cluster[n2].noted(Note::Kind::own_life_doubted));
    EXPECT_FALSE(cluster[n2].superseded);
    cluster.connect(n2, n1);
    cluster.run_for(2 * election_timeout);
    EXPECT_FALSE(cluster[n2].superseded);
    cluster.connect(n2, n3);
    wait_for_a_second_word();
    EXPECT_TRUE(cluster[n2].superseded);
}

// Node 2 is down, and lacks what node 3 says that every member has. Otherwise it would be told by
// both that it has lost it, and begin with an empty directory, which the other two would have to
// admit.
TEST_F(NodeCoreLives, WhatOneThatWasNotElectedSaysAboutOthersDoesNotCount) {
    cluster.disconnect(n1, n2);
    cluster.disconnect(n2, n3);
    cluster[n1].acquire(60, "another");
    cluster.run_for(3 * heartbeat);
    auto lie = append(cluster[n1].raft().term().next().raw(), cluster[n1].raft().log().last(), {},
                      committed().raw());
    lie.replicated = committed();
    cluster[n1].receive(n3, RaftMessage{lie});
    ASSERT_EQ(cluster[n1].raft().leader(), n3);
    cluster.disconnect(n1, n3);
    cluster.crash_and_restart(n2);
    cluster.connect(n1, n2);
    wait_for_a_second_word();
    cluster[n2].step(PeerUp{cluster[n3].hello()});
    cluster[n2].receive(n3, Superseded{cluster[n2].hello().generation});
    EXPECT_FALSE(cluster[n1].noted(Note::Kind::peer_forgot));
    EXPECT_FALSE(cluster[n2].superseded);
    EXPECT_EQ(cluster[n2].raft().commit_index(), committed());
}

TEST_F(NodeCoreLives, WhatARolledBackNodeHadAcknowledgedCountsNoMore) {  // B-D20
    cluster.roll_back(n2, image, 2);
    cluster.connect(n1, n2);
    cluster.disconnect(n1, n3);
    const auto before = committed();
    cluster[n1].acquire(77, "more");
    cluster.run_for(3 * heartbeat);
    EXPECT_EQ(committed(), before);
    EXPECT_FALSE(cluster[n1].was_answered<Acquired>(77));
}

// Nothing of a former run counts for the next, correct or not: it reports itself what it has.
TEST_F(NodeCoreLives, AMemberThatRestartsSaysAnewWhatItHas) {
    cluster.crash_and_restart(n2);
    cluster[n1].step(PeerUp{cluster[n2].hello()});
    EXPECT_EQ(cluster[n1].raft().progress_of(n2)->match, LogIndex{});
    meet();
    EXPECT_EQ(cluster[n1].raft().progress_of(n2)->match, committed());
}

TEST_F(NodeCoreLives, AnEarlierStartIsToldSo) {
    cluster.crash_and_restart(n2);
    cluster.crash_and_restart(n2);
    meet();
    cluster.roll_back(n2, image, 2);
    meet();
    EXPECT_TRUE(cluster[n2].superseded);
    EXPECT_FALSE(cluster[n1].raft().progress_of(n2)->match == committed());
}

TEST_F(NodeCoreLives, OfTwoLivesOfOneStartTheFirstCounts) {
    cluster.crash_and_restart(n2);
    meet();
    cluster.roll_back(n2, image, 2, 99);
    meet();
    EXPECT_TRUE(cluster[n2].superseded);
}

// However it was detected: the message to it may be lost, and it stays excluded until it receives
// one.
TEST_F(NodeCoreLives, AnOutlivedNodeIsInformedAgain) {
    for (const std::uint64_t epoch : {1, 2}) {
        cluster.roll_back(n2, image, epoch, 99);
        cluster.connect(n1, n2);
        cluster.run_for(2 * heartbeat);
        const auto said = cluster[n2].hello();
        const PreVoteRequest outdated{Term{1}, 1, {}};
        cluster[n1].take<Superseded>(n2);
        cluster[n1].receive(n2, outdated);
        cluster[n1].take<Superseded>(n2);
        cluster[n1].receive(n2, outdated);
        const auto told = cluster[n1].take<Superseded>(n2);
        ASSERT_EQ(told.size(), 1U) << epoch;
        EXPECT_EQ(told.front().generation, said.generation);
    }
}

// S10: members that restarted since, and received no hello.
TEST_F(NodeCoreLives, ThoseWhoForgotKnowFromTheState) {
    cluster.crash_and_restart(n2);
    meet();
    cluster.run_for(3 * election_timeout);  // it opens a session
    for (const auto id : {n1, n3})
        cluster.crash_and_restart(id);
    cluster.connect(n1, n3);
    cluster.run_for(3 * election_timeout);
    cluster.roll_back(n2, image, 1, 99);
    meet();
    EXPECT_TRUE(cluster[n2].superseded);
}

// All of them restarted at once, and said hello before any of them had applied anything.
TEST_F(NodeCoreLives, WhatNobodyKnewWhenItConnectedItFindsInTheState) {
    cluster.crash_and_restart(n2);
    meet();
    cluster.run_for(3 * election_timeout);  // it opens a session
    cluster.roll_back(n2, image, 1, 99);
    for (const auto id : {n1, n3})
        cluster.crash_and_restart(id);
    cluster.connect_all();
    cluster.run_for(6 * election_timeout);
    EXPECT_TRUE(cluster[n2].superseded);
}

// One member knows it from its memory. The other one restarted, and met the node before it had
// applied anything.
TEST_F(NodeCoreLives, AWitnessMayLearnItFromTheStateLater) {
    cluster.crash_and_restart(n2);
    meet();
    cluster.run_for(3 * election_timeout);  // it opens a session
    cluster.roll_back(n2, image, 1, 99);
    cluster.crash_and_restart(n3);
    cluster.connect(n1, n2);
    cluster.settle();
    ASSERT_TRUE(cluster[n2].noted(Note::Kind::own_life_doubted));
    cluster.connect(n2, n3);
    cluster.run_for(3 * election_timeout);
    EXPECT_FALSE(cluster[n2].superseded);
    cluster.connect(n1, n3);
    // If node 3 led, it would send node 2 the entries by which that finds out alone.
    for (int i = 0; i < 20 && !cluster[n1].raft().is_leader(); ++i) {
        cluster[n1].timer_when_due();
        cluster.settle();
    }
    cluster.run_for(10 * election_timeout);
    ASSERT_TRUE(cluster[n1].raft().is_leader());
    EXPECT_TRUE(cluster[n2].superseded);
}

// Its former connection was not seen to end, and the state has the session of the new run already.
TEST_F(NodeCoreLives, AnHonestRestartIsWelcomeAfterItsSessionWasSeen) {
    const auto before = cluster[n2].hello();
    cluster.crash_and_restart(n2);
    cluster.connect(n1, n2);
    cluster[n3].step(PeerUp{before});
    cluster.run_for(3 * election_timeout);  // it opens a session
    cluster.connect(n2, n3);
    cluster.run_for(election_timeout);
    EXPECT_FALSE(cluster[n2].superseded);
    EXPECT_FALSE(cluster[n2].noted(Note::Kind::own_life_doubted));
    EXPECT_FALSE(cluster[n3].noted(Note::Kind::peer_forgot));
}

// The nodes that inform it are strangers by its configuration: they lost their directories since.
TEST_F(NodeCoreLives, ADirectoryThatKnowsNoPresentMemberIsToldAllTheSame) {
    for (const auto id : {n1, n3}) {
        cluster.wipe_and_restart(id);
        meet();
        cluster.run_for(20 * election_timeout);
        meet();
    }
    cluster.roll_back(n2, image, 1, 99);
    meet();
    EXPECT_TRUE(cluster[n2].superseded);
}

// Statements about node 2 that any node could make.
class NodeCoreDoubts : public NodeCoreLives {
protected:
    void say(NodeId by) {
        const auto hello = node.hello();
        node.receive(by, Superseded{hello.generation});
    }
    [[nodiscard]] bool is_doubted() const { return node.noted(Note::Kind::own_life_doubted); }

    HandDrivenNode& node = cluster[n2];
};

TEST_F(NodeCoreDoubts, ComeFromItsClusterAloneAndAreAboutThisLife) {
    const auto hello = node.hello();
    say(n5);
    node.receive(n3, Superseded{{hello.generation.incarnation, hello.generation.boot_epoch,
                                 hello.generation.life + 1}});
    node.receive(n3, Superseded{{hello.generation.incarnation, hello.generation.boot_epoch.next(),
                                 hello.generation.life}});
    EXPECT_FALSE(is_doubted());
    say(n3);
    EXPECT_TRUE(is_doubted());
}

// A forged message, or an error.
TEST_F(NodeCoreDoubts, OfOneMemberGiveNothingUp) {
    for (int i = 0; i < 5; ++i) {
        say(n3);
        cluster.disconnect(n2, n3);
        cluster.connect(n2, n3);
        cluster.run_for(election_timeout);
    }
    EXPECT_TRUE(is_doubted());
    EXPECT_FALSE(node.superseded);
    EXPECT_FALSE(node.copied);
    EXPECT_EQ(node.raft().commit_index(), committed());
}

TEST_F(NodeCoreDoubts, FromTwoMembersAreEnough) {
    say(n3);
    EXPECT_FALSE(node.superseded);
    say(n1);
    EXPECT_TRUE(node.superseded);
    EXPECT_FALSE(node.copied);
}

TEST_F(NodeCoreDoubts, AreHeardInRefusedHellos) {
    node.step(LifeRefused{n3, false});
    node.step(LifeRefused{n3, false});
    node.step(LifeRefused{n5, false});  // not a member
    EXPECT_FALSE(node.superseded);
    say(n1);
    EXPECT_TRUE(node.superseded);
    EXPECT_FALSE(node.copied);
}

// A person has to decide which of the two is right.
TEST_F(NodeCoreDoubts, AboutACopyStopTheNode) {
    node.step(LifeRefused{n3, true});
    EXPECT_FALSE(node.copied);
    node.step(LifeRefused{n1, false});
    EXPECT_TRUE(node.copied);
    EXPECT_FALSE(node.superseded);
}

// While it may have forgotten what it promised, it promises nothing new.
TEST_F(NodeCoreDoubts, KeepItOutOfElections) {
    cluster.crash_and_restart(n2);
    cluster.connect(n2, n3);
    node.step(PeerUp{cluster[n1].hello()});
    say(n3);
    EXPECT_EQ(node.core().own_doubts().by(), std::vector{n3});
    EXPECT_EQ(node.sent_to<PreVoteRequest>(n1), 1U);  // it asks, and the answers have no effect
    cluster.disconnect(n1, n2);
    cluster.disconnect(n1, n3);
    node.now = node.now + 3 * election_timeout;
    const auto last = node.raft().log().last();
    node.receive(n3, RaftMessage{PreVoteRequest{node.raft().term(), 7, last}});
    EXPECT_FALSE(node.newest<PreVoteReply>(n3).granted);
    node.receive(n3, RaftMessage{VoteRequest{node.raft().term().next(), 8, last, false}});
    node.complete_writes();
    EXPECT_FALSE(node.newest<VoteReply>(n3).granted);
    node.timer();
    EXPECT_EQ(node.raft().role(), Role::follower);
}

// The cluster has opened a session for this run: the node has everything that it had acknowledged
// before. Whoever says it lies, or knows of a vote.
TEST_F(NodeCoreDoubts, OfOneMemberDoNotKeepItOutOnceItWasAccepted) {
    say(n3);
    EXPECT_TRUE(is_doubted());
    EXPECT_FALSE(node.raft().is_doubted());
    say(n1);
    EXPECT_TRUE(node.superseded);
}

TEST_F(NodeCoreDoubts, PassIfNobodyRepeatsThem) {
    say(n3);
    cluster.run_for(70 * election_timeout);
    say(n1);
    EXPECT_FALSE(node.superseded);
    cluster.run_for(70 * election_timeout);
    cluster.disconnect(n1, n2);
    cluster.disconnect(n1, n3);
    cluster.run_for(5 * election_timeout);
    EXPECT_TRUE(node.raft().leader().has_value());
}

// The statement must be repeated after another hello. It has no effect on a run that the cluster
// has accepted, as in a larger cluster.
TEST(NodeCoreDoubtsOfTwo, AreTheWordOfTheOtherOneTwice) {
    NodeCluster cluster{1, 2};
    cluster.connect_all();
    cluster.run_for(5 * heartbeat);
    auto& node = cluster[n2];
    const auto say = [&] { node.receive(n1, Superseded{node.hello().generation}); };
    const auto meet = [&] { node.step(PeerUp{cluster[n1].hello()}); };
    say();
    say();
    EXPECT_EQ(node.disconnected, std::vector{n1});
    meet();
    say();
    EXPECT_FALSE(node.superseded);
    cluster.disconnect(n1, n2);
    cluster.crash_and_restart(n2);
    meet();
    say();
    say();
    EXPECT_FALSE(node.superseded);
    meet();
    say();
    EXPECT_TRUE(node.superseded);
}

// The checksum is kept from the proposer to here: a single bit is detected anywhere on the way.
TEST(NodeCoreApplying, AnEntryThatIsNotWhatWasProposedStopsTheNode) {
    auto damaged = commands(log_id(1, 2));
    damaged.checksum ^= 1U;
    RaftState state;
    state.hard_state = {Term{1}, {}};
    state.entries = {
        make_entry(log_id(1, 1), EntryKind::configuration, encode_configuration(voters({1}))),
        damaged};
    HandDrivenNode node{node_options(1, {1}), state};
    try {
        node.timer_when_due();
        while (!node.writes.empty())
            node.complete_writes();
        FAIL() << "it was applied";
    } catch (const InvariantBroken& broken) {
        EXPECT_NE(std::string{broken.what()}.find("entry 2 was damaged"), std::string::npos);
    }
}

}  // namespace
}  // namespace mortise::core::test
