#include "core/raft/configuration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

using testing::ElementsAre;

Configuration joint() {
    return {{7, 9}, members({1, 2, 4}), members({1, 2, 3}), members({5})};
}

// B-M8: the voters are those of both lists, and no others.
TEST(Configuration, VotersAreThoseOfBothLists) {
    for (const auto id : {n1, n2, n3, n4})
        EXPECT_TRUE(joint().is_voter(id)) << id.raw();
    EXPECT_FALSE(joint().is_voter(n5));
    EXPECT_FALSE(joint().is_voter(NodeId{6}));
    EXPECT_FALSE(joint().is_voter(NodeId{}));
}

// A program that stops the leader once a new member is listed as a voter must not stop the cluster.
TEST(Configuration, TheVoteOfANewVoterLastsWhenTheChangeIsDone) {  // P7
    for (const auto id : {n1, n2})
        EXPECT_TRUE(joint().is_lasting_voter(id)) << id.raw();
    EXPECT_FALSE(joint().is_lasting_voter(n3));  // it is leaving
    EXPECT_FALSE(joint().is_lasting_voter(n4));
    EXPECT_FALSE(joint().is_lasting_voter(n5));
    EXPECT_TRUE(voters({1}).is_lasting_voter(n1));
}

TEST(Configuration, TheVoteOfANewIncarnationLastsWhenTheChangeIsDone) {  // P7
    auto replacing = joint();
    replacing.voters.front().incarnation = Incarnation{77};
    EXPECT_TRUE(replacing.is_voter(n1));
    EXPECT_FALSE(replacing.is_lasting_voter(n1));
}

TEST(Configuration, ListsEverybodyOnceAscending) {
    EXPECT_THAT(joint().all(), ElementsAre(n1, n2, n3, n4, n5));
    EXPECT_THAT(Configuration{}.all(), ElementsAre());
}

TEST(Configuration, FindsLearnersToo) {
    ASSERT_NE(joint().find(n5), nullptr);
    EXPECT_EQ(*joint().find(n5), member(5));
    EXPECT_EQ(*joint().find(n3), member(3));
    EXPECT_EQ(joint().find(NodeId{6}), nullptr);
}

TEST(Configuration, IsFormedOnceItHasAClusterId) {
    EXPECT_FALSE(Configuration{}.is_formed());
    EXPECT_TRUE(voters({1}).is_formed());
    EXPECT_TRUE(joint().is_joint());
    EXPECT_FALSE(voters({1}).is_joint());
}

}  // namespace
}  // namespace mortise::core::test
