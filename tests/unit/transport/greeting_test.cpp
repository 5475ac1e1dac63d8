#include "transport/wire/greeting.hpp"

#include <set>

#include <gtest/gtest.h>

namespace mortise::transport {
namespace {

using core::NodeId;

constexpr core::ClusterId ours_cluster{1, 2};

core::Hello hello(std::uint64_t node, core::ClusterId cluster = {}) {
    return {NodeId{node}, {core::Incarnation{node * 10}, core::BootEpoch{1}}, cluster, {}};
}

Greeting greeting(std::uint64_t node, core::ClusterId cluster = {}) {
    return {.hello = hello(node, cluster)};
}

const std::vector<NodeId> known{NodeId{3}, NodeId{2}};

TEST(JudgeCaller, TakesAConfiguredPeerOfTheSameClusterOrOfNone) {
    EXPECT_FALSE(judge_caller(greeting(2, ours_cluster), hello(1, ours_cluster), known));
    EXPECT_FALSE(judge_caller(greeting(2), hello(1, ours_cluster), known));
    EXPECT_FALSE(judge_caller(greeting(3, ours_cluster), hello(1), known));
    EXPECT_FALSE(judge_caller(greeting(3), hello(1), known));
}

TEST(JudgeCaller, RefusesAnotherCluster) {
    EXPECT_EQ(judge_caller(greeting(2, {1, 3}), hello(1, ours_cluster), known),
              Refusal::wrong_cluster);
    auto client = greeting(0, {9, 9});
    client.purpose = Purpose::client;
    EXPECT_EQ(judge_caller(client, hello(1, ours_cluster), known), Refusal::wrong_cluster);
}

TEST(JudgeCaller, RefusesWhoIsNotConfiguredAndWhoClaimsToBeThisNode) {
    EXPECT_EQ(judge_caller(greeting(4), hello(1), known), Refusal::unknown_node);
    EXPECT_EQ(judge_caller(greeting(1), hello(1), known), Refusal::wrong_node);
}

TEST(JudgeCaller, AClientNeedsNoIdentity) {
    auto client = greeting(0);
    client.purpose = Purpose::client;
    EXPECT_FALSE(judge_caller(client, hello(1, ours_cluster), known));
}

TEST(JudgeCaller, SpeaksTheHighestVersionInCommonOrNone) {  // P12
    auto caller = greeting(2);
    caller.highest = protocol_highest + 7;
    EXPECT_EQ(common_protocol(caller), protocol_highest);
    EXPECT_FALSE(judge_caller(caller, hello(1), known));
    caller.lowest = protocol_highest + 1;
    EXPECT_FALSE(common_protocol(caller));
    EXPECT_EQ(judge_caller(caller, hello(1), known), Refusal::protocol);
}

TEST(JudgeCaller, RefusesAFeatureThatItDoesNotHave) {
    auto caller = greeting(2);
    caller.features = 1;
    EXPECT_EQ(judge_caller(caller, hello(1), known), Refusal::protocol);
}

TEST(JudgeAnswer, TakesOnlyTheNodeThatWasCalled) {
    EXPECT_FALSE(judge_answer(greeting(2), hello(1), NodeId{2}));
    EXPECT_EQ(judge_answer(greeting(3), hello(1), NodeId{2}), Refusal::wrong_node);
    EXPECT_EQ(judge_answer(greeting(1), hello(1), NodeId{2}), Refusal::wrong_node);
    EXPECT_EQ(judge_answer(greeting(2, {7, 7}), hello(1, ours_cluster), NodeId{2}),
              Refusal::wrong_cluster);
}

TEST(JudgeCaller, RefusesAClusterOfAnotherName) {
    auto ours = hello(1, ours_cluster);
    ours.cluster_name = "orders";
    auto caller = greeting(2, ours_cluster);
    caller.hello.cluster_name = "orders";
    EXPECT_FALSE(judge_caller(caller, ours, known));
    caller.hello.cluster_name = "payments";
    EXPECT_EQ(judge_caller(caller, ours, known), Refusal::cluster_name);
    EXPECT_EQ(judge_answer(caller, ours, NodeId{2}), Refusal::cluster_name);
    caller.hello.cluster_name.clear();  // it sends no name
    EXPECT_FALSE(judge_caller(caller, ours, known));
}

TEST(Refusal, EachHasItsOwnSentence) {
    std::set<std::string_view> sentences;
    for (int i = 0; i <= static_cast<int>(Refusal::id_in_use); ++i)
        sentences.insert(to_string(static_cast<Refusal>(i)));
    EXPECT_EQ(sentences.size(), static_cast<std::size_t>(Refusal::id_in_use) + 1);
}

TEST(Purpose, EveryLaneHasOneAndClientsHaveNoLane) {
    for (const auto lane : {Lane::replication, Lane::forwarding})
        EXPECT_EQ(lane_of(purpose_of(lane)), lane);
    EXPECT_FALSE(lane_of(Purpose::client));
}

}  // namespace
}  // namespace mortise::transport
