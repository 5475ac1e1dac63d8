// Why a node without a leader is not ready.
#include "embed/runtime/readiness_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(WhyInNoCluster, NamesTheFirstThatIsInTheWay) {
    InNoCluster node{.names_others = true,
                     .peers_have_one = true,
                     .missing = "2 (b:1)",
                     .disagreement = "node 3 names the peers 1, 3, and this node 1, 2, 3"};
    EXPECT_EQ(why_in_no_cluster(node),
              "in no cluster yet: its peers have formed one; it waits until they add it");
    node.peers_have_one = false;
    EXPECT_EQ(why_in_no_cluster(node),
              "in no cluster yet: all its voters have to form it, and there is no connection with "
              "2 (b:1)");
    node.missing.clear();
    EXPECT_EQ(why_in_no_cluster(node),
              "in no cluster yet: node 3 names the peers 1, 3, and this node 1, 2, 3: list the "
              "same peers in the files of all");
    node.disagreement.clear();
    EXPECT_EQ(why_in_no_cluster(node),
              "in no cluster yet: all voters are connected; it is formed if they name the same "
              "peers");
}

TEST(WhyInNoCluster, SaysWhoAddsANodeThatFormsNone) {
    InNoCluster node{.names_others = true, .is_to_be_found = true, .missing = "1 (a:1)"};
    EXPECT_EQ(why_in_no_cluster(node),
              "in no cluster yet: the leader adds it when it finds it by the name of the peers; "
              "there is no connection with 1 (a:1)");
    node.missing.clear();
    EXPECT_EQ(why_in_no_cluster(node),
              "in no cluster yet: the leader adds it when it finds it by the name of the peers");
    // The members do not know it, and refuse its connections: nothing is wrong with these.
    node.missing = "1 (a:1)";
    node.unlisted_by = "name:1";
    EXPECT_EQ(why_in_no_cluster(node),
              "in no cluster yet: the name name:1 does not have its address yet; the leader adds "
              "it when it finds it there");
}

TEST(WhyInNoCluster, SaysHowLongANodeWaitsThatMayFormOneAlone) {
    EXPECT_EQ(why_in_no_cluster({.founding_pause = 2s}),
              "in no cluster yet: it waits 2s for a member that knows it, and joins that cluster, "
              "or forms one of its own");
}

TEST(WhyInNoCluster, SaysWhoCanBringANodeBackThatLostItsData) {
    InNoCluster node{.former = {1, 2}, .names_others = true, .missing = "2 (b:1)"};
    const auto lost =
        AllOf(StartsWith("in no cluster: the data that it had in its cluster, 0000"),
              HasSubstr("is damaged or gone, and it waits for a member that has it; "));
    EXPECT_THAT(why_in_no_cluster(node),
                AllOf(lost, EndsWith("; there is no connection with 2 (b:1); if no member has it "
                                     "any more, see docs/backup.md, When a majority is lost")));
    node.missing.clear();
    EXPECT_THAT(why_in_no_cluster(node), AllOf(lost, Not(HasSubstr("connection"))));
    node.names_others = false;
    EXPECT_THAT(why_in_no_cluster(node), AllOf(lost, HasSubstr("form a new cluster")));
}

TEST(WhyClosedByAnEra, SaysForHowLong) {
    EXPECT_EQ(why_closed_by_an_era(7s),
              "the machines of a majority lost power: no session opens for 7s, since holders that "
              "the cluster has forgotten may still rely on their leases");
}

TEST(WhyNoLeader, IsEmptyIfTheStatusSaysEverything) {
    EXPECT_EQ(why_no_leader({}), "");
    EXPECT_EQ(why_no_leader({.missing = "2 (b:1)"}),
              "no leader is known, and there is no connection with 2 (b:1)");
}

TEST(WhyNoLeader, NamesWhatKeepsTheNodeOutOfElections) {
    WithoutLeader node{.doubted = WithoutLeader::Doubts{{core::NodeId{2}, core::NodeId{3}}, 5s}};
    EXPECT_EQ(why_no_leader(node),
              "no leader is known; this node takes no part in elections, because for 5s node 2, 3 "
              "has been saying that its directory was rolled back, or is a copy");
    node.used_up_terms = true;
    const std::string used_up =
        "; the last possible term was used: `mortise recover` begins the terms anew";
    EXPECT_EQ(why_no_leader(node), "no leader is known" + used_up);
    node.missing = "2 (b:1)";
    EXPECT_EQ(why_no_leader(node),
              "no leader is known, and there is no connection with 2 (b:1)" + used_up);
}

}  // namespace
}  // namespace mortise::detail
