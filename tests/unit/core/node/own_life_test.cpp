// Which statements about this node's own generation count, and what follows from them.
#include "core/node/own_life.hpp"

#include <gtest/gtest.h>

#include "tests/support/node_around_part.hpp"

namespace mortise::core::test {
namespace {

using Said = OwnLife::Said;
using Verdict = OwnLife::Verdict;

struct OwnLifeTest : testing::Test {
    OwnLifeTest() {
        for (const auto peer : {n2, n3})
            node.meet(node.member_hello(peer));
    }
    Said said(NodeId from) { return life.said(from, {node.options.generation}, node.now()); }

    NodeAroundPart node;
    OwnLife life{node.options, node.raft(), node.peers};
};

TEST_F(OwnLifeTest, OneStatementIsADoubtAndTheSecondIsAProof) {
    EXPECT_FALSE(life.is_doubted(node.now()));
    EXPECT_EQ(said(n2), Said::news);
    EXPECT_EQ(said(n2), Said::again);
    EXPECT_TRUE(life.is_doubted(node.now()));
    EXPECT_EQ(life.judge(node.now()), Verdict::ask);
    EXPECT_EQ(said(n3), Said::news);
    EXPECT_EQ(life.judge(node.now()), Verdict::outlived);
}

TEST_F(OwnLifeTest, TheOthersAreAskedOnceInAnElectionTimeout) {
    (void)said(n2);
    const auto first = node.now();
    EXPECT_EQ(life.judge(first), Verdict::ask);
    EXPECT_EQ(life.deadline(), first + election_timeout);
    EXPECT_EQ(life.judge(first + election_timeout - 1ns), Verdict::none);
    EXPECT_EQ(life.judge(first + election_timeout), Verdict::ask);
}

TEST_F(OwnLifeTest, ADoubtThatNobodyRepeatsEnds) {
    (void)said(n2);
    const auto late = node.now() + std::chrono::minutes{1};
    EXPECT_TRUE(life.is_doubted(late - 1ns));
    EXPECT_FALSE(life.is_doubted(late));
    EXPECT_EQ(life.judge(late), Verdict::none);
    EXPECT_EQ(life.deadline(), Instant::never());
}

// What it had acknowledged before is in the log that it has.
TEST_F(OwnLifeTest, OneStatementHasNoEffectOnceTheClusterHasAcceptedThisRun) {
    (void)said(n2);
    EXPECT_TRUE(life.is_doubted(node.now()));
    life.accepted();
    EXPECT_FALSE(life.is_doubted(node.now()));
    EXPECT_EQ(life.judge(node.now()), Verdict::ask);
    (void)said(n3);
    EXPECT_EQ(life.judge(node.now()), Verdict::outlived);
}

TEST_F(OwnLifeTest, ShowsWhoDoubtsAndSinceWhen) {
    const auto first = node.now();
    (void)life.said(n3, {node.options.generation}, first);
    (void)life.said(n2, {node.options.generation}, first + 1s);
    EXPECT_EQ(life.doubts().by(), (std::vector{n2, n3}));
    EXPECT_EQ(life.doubts().since(), first);
}

TEST_F(OwnLifeTest, AStatementAboutAnotherStartOrOfAnotherClusterIsRefused) {
    auto other = node.options.generation;
    other.boot_epoch = other.boot_epoch.next();
    EXPECT_EQ(life.said(n2, {other}, node.now()), Said::refused);
    auto stranger = node.member_hello(n4);
    stranger.cluster = {1, 1};
    node.meet(stranger);
    EXPECT_EQ(said(n4), Said::refused);
    EXPECT_FALSE(life.is_doubted(node.now()));
}

// The incarnation of the speaker does not count: a directory may be older than all present ones.
TEST_F(OwnLifeTest, ANodeOfTheClusterWithAnotherDirectoryIsHeard) {
    auto replaced = node.member_hello(n2);
    replaced.generation.incarnation = Incarnation{999};
    node.meet(replaced);
    EXPECT_EQ(said(n2), Said::news);
}

TEST_F(OwnLifeTest, TwoMembersThatRefuseACopyProveTheCopy) {
    EXPECT_TRUE(life.refused({n2, true}, node.now()));
    EXPECT_FALSE(life.refused({n2, true}, node.now()));
    EXPECT_TRUE(life.refused({n3, true}, node.now()));
    EXPECT_EQ(life.judge(node.now()), Verdict::copied);
}

TEST_F(OwnLifeTest, ALaterStartInTheStateIsEnough) {
    node.open(n1);
    EXPECT_FALSE(life.is_outlived_in(node.machine.sessions()));
    auto later = opening_of(n1, 10'000);
    later.nonce = 77;
    later.generation.boot_epoch = later.generation.boot_epoch.next();
    node.apply(later);
    EXPECT_TRUE(life.is_outlived_in(node.machine.sessions()));
}

TEST(OwnLife, TheOnlyOtherMemberHasToSayItAgainAfterAnotherHello) {
    const auto options = node_options(1, {1, 2});
    const HandDriven two{options_of(n1), disk_with(voters({1, 2}), {Term{1}, {}}, {})};
    Peers peers{options, two.raft()};
    peers.hear(played_hello(n2, HandDrivenNode{1, {1, 2}}.hello()), {});
    OwnLife life{options, two.raft(), peers};
    EXPECT_EQ(life.said(n2, {options.generation}, two.now), Said::news_of_only_other);
    EXPECT_EQ(life.said(n2, {options.generation}, two.now), Said::again);
    EXPECT_EQ(life.judge(two.now), Verdict::ask);
    life.heard_hello(n2);
    EXPECT_EQ(life.said(n2, {options.generation}, two.now), Said::again);
    EXPECT_EQ(life.judge(two.now), Verdict::outlived);
    // It may have been a lie in a cluster of three, one of which was removed since.
    life.accepted();
    EXPECT_EQ(life.judge(two.now), Verdict::none);
}

TEST(OwnLife, ANodeThatBelongsToNoClusterHasNothingToGiveUp) {
    const auto options = node_options(1, {1, 2});
    const HandDriven empty{options_of(n1), RaftState{}};
    const Peers peers{options, empty.raft()};
    OwnLife life{options, empty.raft(), peers};
    EXPECT_FALSE(life.refused({n2, false}, empty.now));
    EXPECT_FALSE(life.is_doubted(empty.now));
}

}  // namespace
}  // namespace mortise::core::test
