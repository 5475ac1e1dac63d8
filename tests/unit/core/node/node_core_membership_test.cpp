// Changes of the membership that a program requests, at any node.
#include <gtest/gtest.h>

#include "core/node/membership_calls.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

using Kind = MembershipGoal::Kind;

constexpr std::uint64_t tag = 50;

// Three voters, led by node 1, and node 4, which waits to be added.
class NodeCoreMembership : public testing::Test {
protected:
    NodeCoreMembership() {
        cluster_.add(4, {});
        cluster_.connect_all();
        cluster_.run_for(5 * heartbeat);
    }

    void ask(NodeId at, const MembershipGoal& goal, Nanoseconds patience = 20 * election_timeout) {
        auto& node = cluster_[at];
        node.answers.clear();
        node.call(ChangeCall{CallTag{tag}, goal, node.now + patience});
        cluster_.run_for(5 * heartbeat);
    }
    void ask_and_wait(NodeId at, const MembershipGoal& goal) {
        ask(at, goal);
        cluster_.run_for(20 * election_timeout);
    }
    [[nodiscard]] bool is_changed(NodeId at) { return cluster_[at].was_answered<Changed>(tag); }
    std::optional<MembershipRefusal> refusal(NodeId at) {
        for (const auto& answer : cluster_[at].answers) {
            if (const auto* why = std::get_if<MembershipRefusal>(&answer.result)) return *why;
        }
        return std::nullopt;
    }
    const Configuration& members() { return cluster_.leader()->raft().configuration(); }

    NodeCluster cluster_{1, 2, 3};
};

TEST_F(NodeCoreMembership, AMemberIsAddedPromotedAndRemovedFromAnyNode) {
    ask(n2, {Kind::learner, n4, "host4:1"});
    EXPECT_TRUE(is_changed(n2));
    EXPECT_TRUE(members().is_learner(n4));
    ask(n3, {Kind::voter, n4, {}});
    EXPECT_TRUE(is_changed(n3));
    EXPECT_TRUE(members().is_voter(n4));
    ask(n4, {Kind::gone, n2, {}});
    EXPECT_TRUE(is_changed(n4));
    EXPECT_EQ(members().find(n2), nullptr);
    EXPECT_FALSE(members().is_joint());
}

// Found by the simulator: the leader came back with an earlier image of its directory. A voter
// loses its leader by that; a learner follows on, and continued in the middle of its stream.
TEST_F(NodeCoreMembership, ALearnerBeginsItsStreamAgainOnANewConnectionThatItRefuses) {  // P7
    ask(n2, {Kind::learner, n4, "host4:1"});
    auto& learner = cluster_[n4];
    learner.acquire(17, "name");
    ASSERT_EQ(learner.take<Forward>(n1).size(), 1U);
    auto hello = cluster_[n1].hello();
    ++hello.generation.life;  // a copy of the same start
    learner.step(PeerUp{hello});
    EXPECT_EQ(learner.sent_to<Superseded>(n1), 1U);
    EXPECT_EQ(learner.sent_to<Forward>(n1), 1U);
}

TEST_F(NodeCoreMembership, WhatIsSoAlreadyIsDone) {  // B-M13
    ask(n2, {Kind::learner, n4, "host4:1"});
    const auto index = cluster_[n1].raft().configuration_id();
    ask(n2, {Kind::learner, n4, "host4:1"});
    EXPECT_TRUE(is_changed(n2));
    ask(n2, {Kind::voter, n3, {}});
    EXPECT_TRUE(is_changed(n2));
    ask(n2, {Kind::gone, n5, {}});
    EXPECT_TRUE(is_changed(n2));
    EXPECT_EQ(cluster_[n1].raft().configuration_id(), index);
}

TEST_F(NodeCoreMembership, WhatCannotBeIsRefusedAtOnce) {
    ask(n2, {Kind::voter, n4, {}});
    EXPECT_EQ(refusal(n2), MembershipRefusal::unknown_member);
    ask(n2, {Kind::learner, n3, "elsewhere:1"});
    EXPECT_EQ(refusal(n2), MembershipRefusal::already_member);
    ask(n2, {Kind::learner, n4, ""});
    EXPECT_EQ(refusal(n2), MembershipRefusal::invalid_address);
    ask(n2, {Kind::leader, n4, {}});
    EXPECT_EQ(refusal(n2), MembershipRefusal::not_a_voter);
}

TEST_F(NodeCoreMembership, AMemberThatMovedIsReachedElsewhereAndStaysWhatItIs) {
    cluster_.disconnect(n1, n3);
    cluster_.disconnect(n2, n3);
    ask(n2, {Kind::address, n3, "host3:2"});
    EXPECT_TRUE(is_changed(n2));
    EXPECT_EQ(members().find(n3)->address, "host3:2");
    EXPECT_TRUE(members().is_voter(n3));
    EXPECT_EQ(members().voters.size(), 3U);
    for (const auto node : {n1, n2}) {
        const auto told = std::ranges::find(cluster_[node].peers, n3, &Member::id);
        ASSERT_NE(told, cluster_[node].peers.end());
        EXPECT_EQ(told->address, "host3:2");
    }
    const auto index = members();
    ask(n1, {Kind::address, n3, "host3:2"});  // again
    EXPECT_TRUE(is_changed(n1));
    EXPECT_EQ(members(), index);
}

TEST_F(NodeCoreMembership, ALearnerMayMoveAndTheLeaderToo) {
    ask(n2, {Kind::learner, n4, "host4:1"});
    ask(n2, {Kind::address, n4, "host4:2"});
    EXPECT_TRUE(members().is_learner(n4));
    EXPECT_EQ(members().find(n4)->address, "host4:2");
    ask(n2, {Kind::address, n1, "host1:2"});
    EXPECT_TRUE(is_changed(n2));
    EXPECT_EQ(members().find(n1)->address, "host1:2");
}

TEST_F(NodeCoreMembership, NobodyMovesToWhereAnotherIs) {
    ask(n2, {Kind::address, n3, members().find(n1)->address});
    EXPECT_EQ(refusal(n2), MembershipRefusal::invalid_address);
    ask(n2, {Kind::address, n3, ""});
    EXPECT_EQ(refusal(n2), MembershipRefusal::invalid_address);
    ask(n2, {Kind::address, n3, std::string(address_bytes_max + 1, 'a')});
    EXPECT_EQ(refusal(n2), MembershipRefusal::invalid_address);
    ask(n2, {Kind::address, n5, "host5:1"});
    EXPECT_EQ(refusal(n2), MembershipRefusal::unknown_member);
}

TEST_F(NodeCoreMembership, TooFewWhoAnswerAreNotLeftAlone) {
    cluster_.disconnect(n1, n3);
    cluster_.disconnect(n2, n3);
    cluster_.run_for(2 * election_timeout);
    ask(n1, {Kind::gone, n2, {}});
    EXPECT_EQ(refusal(n1), MembershipRefusal::would_lose_quorum);
}

// The leader connects with a new node as soon as it is requested, and until it is requested no
// more.
TEST_F(NodeCoreMembership, ANewcomerIsExpectedAndWaitedFor) {
    for (const auto id : {n1, n2, n3})
        cluster_.disconnect(id, n4);
    auto& leader = cluster_[n1];
    ask(n2, {Kind::learner, n4, "host4:1"}, 5 * election_timeout);
    EXPECT_TRUE(cluster_[n2].answers.empty());
    ASSERT_EQ(leader.peers.size(), 4U);
    EXPECT_EQ(leader.peers.back(), (Member{n4, {}, "host4:1"}));
    cluster_.run_for(10 * election_timeout);
    EXPECT_EQ(refusal(n2), MembershipRefusal::not_connected);
    EXPECT_EQ(leader.peers.size(), 3U);
    ask(n2, {Kind::learner, n4, "host4:1"});
    cluster_.connect(n1, n4);
    cluster_.run_for(5 * heartbeat);
    EXPECT_TRUE(is_changed(n2));
}

TEST_F(NodeCoreMembership, EveryMemberIsToldWhomToBeConnectedWith) {
    ask(n2, {Kind::learner, n4, "host4:1"});
    for (const auto& [id, node] : cluster_)
        EXPECT_EQ(node.peers.size(), 4U) << id.raw();
    // The node that is removed should learn of it.
    ask(n2, {Kind::gone, n3, {}});
    for (const auto& [id, node] : cluster_)
        EXPECT_EQ(node.peers.size(), 4U) << id.raw();
    cluster_.run_for(2 * election_timeout);
    for (const auto& [id, node] : cluster_)
        EXPECT_EQ(node.peers.size(), 3U) << id.raw();
}

TEST_F(NodeCoreMembership, AFollowerMayAskForItsOwnRemoval) {
    ask(n3, {Kind::gone, n3, {}});
    EXPECT_TRUE(is_changed(n3));
}

TEST_F(NodeCoreMembership, ALeaderMayAskForItsOwnRemoval) {
    ask_and_wait(n1, {Kind::gone, n1, {}});
    EXPECT_TRUE(is_changed(n1));
    EXPECT_EQ(members().find(n1), nullptr);
}

TEST_F(NodeCoreMembership, AFollowerMayAskForTheRemovalOfTheLeader) {
    ask_and_wait(n2, {Kind::gone, n1, {}});
    EXPECT_TRUE(is_changed(n2));
    EXPECT_FALSE(cluster_[n1].raft().is_leader());
}

// A caller with the right could request many changes that never become possible.
TEST_F(NodeCoreMembership, ManyThatWaitDoNotKeepOutOneThatCanBeDone) {
    for (const auto id : {n1, n2, n3})
        cluster_.disconnect(id, n4);
    auto& node = cluster_[n2];
    for (std::uint64_t other = 100; other < 100 + membership_calls_max; ++other)
        node.call(ChangeCall{
            CallTag{other}, {Kind::learner, n4, "host4:1"}, node.now + 20 * election_timeout});
    cluster_.run_for(5 * heartbeat);
    node.call(ChangeCall{CallTag{tag}, {Kind::leader, n3, {}}, node.now + 20 * election_timeout});
    cluster_.run_for(20 * heartbeat);
    EXPECT_TRUE(is_changed(n2));
    EXPECT_TRUE(node.was_answered<CallError>(100));
    EXPECT_FALSE(node.was_answered<CallError>(101));
}

TEST_F(NodeCoreMembership, LeadershipIsHandedOver) {
    ask_and_wait(n3, {Kind::leader, n2, {}});
    EXPECT_TRUE(is_changed(n3));
    EXPECT_TRUE(cluster_[n2].raft().is_leader());
    ask(n3, {Kind::leader, n2, {}});
    EXPECT_TRUE(is_changed(n3));
}

TEST_F(NodeCoreMembership, LeadershipIsNotOfferedToWhoDoesNotAnswer) {
    cluster_.disconnect(n1, n3);
    cluster_.disconnect(n2, n3);
    cluster_.run_for(2 * election_timeout);
    ask(n2, {Kind::leader, n3, {}}, election_timeout);
    cluster_.run_for(2 * election_timeout);
    EXPECT_EQ(refusal(n2), MembershipRefusal::not_caught_up);
    EXPECT_FALSE(cluster_[n1].noted(Note::Kind::transfer_started));
}

// Each attempt stops the cluster for an election timeout.
TEST_F(NodeCoreMembership, LeadershipIsOfferedOnce) {
    cluster_.disconnect(n1, n3);
    ask(n1, {Kind::leader, n3, {}});
    cluster_.run_for(4 * election_timeout);
    EXPECT_EQ(refusal(n1), MembershipRefusal::not_caught_up);
    EXPECT_EQ(std::ranges::count(cluster_[n1].notes, Note::Kind::transfer_started, &Note::kind), 1);
    EXPECT_TRUE(cluster_[n1].raft().is_leader());
}

// A caller should not have to know about an election after its query.
TEST_F(NodeCoreMembership, LeadershipIsLookedAtAgainInANewTerm) {
    auto& leader = cluster_[n1];
    const auto term = leader.raft().term();
    const Term earlier{term.raw() - 1};
    leader.receive(
        n2, MembershipRequest{ChangeId{1}, {Kind::leader, n3, {}}, LogIndex{1}, earlier, true});
    ASSERT_FALSE(leader.sent.empty());
    const auto* reply = std::get_if<MembershipReply>(&leader.sent.back().message);
    ASSERT_NE(reply, nullptr);
    EXPECT_EQ(reply->state, MembershipReply::State::looked);
    EXPECT_EQ(reply->term, term);
    EXPECT_FALSE(leader.noted(Note::Kind::transfer_started));
}

// A late copy of a request must not undo a later change.
TEST_F(NodeCoreMembership, ALateCopyChangesNothing) {  // P6
    ask(n2, {Kind::learner, n4, "host4:1"});
    auto& leader = cluster_[n1];
    MembershipRequest remove{ChangeId{1}, {Kind::gone, n4, {}}, {}, {}, false};
    remove.configuration = leader.raft().configuration_id().index;
    remove.term = leader.raft().term();
    ask(n2, {Kind::gone, n4, {}});
    ask(n2, {Kind::learner, n4, "host4:1"});
    ASSERT_TRUE(members().is_learner(n4));
    leader.receive(n2, remove);
    cluster_.run_for(5 * heartbeat);
    EXPECT_TRUE(members().is_learner(n4));
}

// A program decided by what it saw, and the members have changed since.
TEST_F(NodeCoreMembership, AnOldReasonChangesNothing) {
    const auto seen = cluster_[n2].raft().configuration_id().index;
    ask(n2, {Kind::learner, n4, "host4:1"});
    ask(n2, {Kind::gone, n4, {}});
    auto& node = cluster_[n2];
    node.answers.clear();
    node.call(ChangeCall{
        CallTag{tag}, {Kind::learner, n4, "host4:1"}, node.now + 20 * election_timeout, seen});
    cluster_.run_for(5 * heartbeat);
    EXPECT_EQ(refusal(n2), MembershipRefusal::overtaken);
    EXPECT_EQ(members().find(n4), nullptr);
}

// Two callers queried the same members: the second one learns that they have changed.
TEST_F(NodeCoreMembership, OneOfTwoAtOnceIsRefused) {
    auto& leader = cluster_[n1];
    const auto index = leader.raft().configuration_id().index;
    const auto request = [&](NodeId member) {
        return MembershipRequest{
            ChangeId{member.raw()}, {Kind::gone, member, {}}, index, leader.raft().term(), false};
    };
    leader.receive(n2, request(n3));
    leader.receive(n3, request(n2));
    std::vector<MembershipReply> replies;
    for (const auto& envelope : leader.sent) {
        if (const auto* reply = std::get_if<MembershipReply>(&envelope.message))
            replies.push_back(*reply);
    }
    ASSERT_EQ(replies.size(), 2U);
    EXPECT_EQ(replies[0].state, MembershipReply::State::begun);
    EXPECT_EQ(replies[1].state, MembershipReply::State::refused);
    EXPECT_EQ(replies[1].why, MembershipRefusal::overtaken);
}

TEST_F(NodeCoreMembership, OnlyMembersMayAskTheLeader) {
    const auto refused = cluster_[n1].core().refused_messages();
    cluster_[n1].receive(n4, MembershipRequest{ChangeId{1}, {Kind::gone, n3, {}}, {}, {}, false});
    EXPECT_EQ(cluster_[n1].core().refused_messages(), refused + 1);
    EXPECT_EQ(members().voters.size(), 3U);
}

TEST_F(NodeCoreMembership, WithoutALeaderNobodyKnows) {
    for (const auto id : {n2, n3})
        cluster_.disconnect(n1, id);
    cluster_.disconnect(n2, n3);
    cluster_.run_for(3 * election_timeout);
    ask(n2, {Kind::gone, n3, {}}, election_timeout);
    cluster_.run_for(2 * election_timeout);
    ASSERT_EQ(cluster_[n2].answers.size(), 1U);
    EXPECT_EQ(std::get<CallError>(cluster_[n2].answers[0].result), CallError::no_quorum);
}

// --- nodes that wait to be added

TEST(NodeCoreJoining, ANodeWithoutVotersFoundsNothing) {
    NodeCluster cluster{};
    cluster.add(1, {});
    cluster.add(2, {});
    cluster.connect_all();
    cluster.run_for(5 * election_timeout);
    EXPECT_FALSE(cluster[n1].is_formed());
    EXPECT_FALSE(cluster[n2].is_formed());
}

// A node that is empty and connected has not consented.
TEST(NodeCoreJoining, NobodyFoundsAClusterWithOneThatWaits) {
    NodeCluster cluster{1, 2};
    cluster.add(3, {});
    cluster[n1].configure({1, 2, 3});
    cluster[n2].configure({1, 2, 3});
    cluster.connect_all();
    cluster.run_for(5 * election_timeout);
    for (const auto& [id, node] : cluster)
        EXPECT_FALSE(node.is_formed()) << id.raw();
}

}  // namespace
}  // namespace mortise::core::test
