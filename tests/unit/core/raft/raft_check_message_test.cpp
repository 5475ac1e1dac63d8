// A message that no correct peer sends has no effect, whichever node sends it, and violates no
// invariant.
#include <string>

#include <gtest/gtest.h>

#include "core/raft/snapshot_sum.hpp"
#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

HandDriven follower_with(HardState hard_state, const std::vector<std::uint64_t>& terms) {
    return {options_of(n1), disk_with(voters({1, 2, 3}), hard_state, terms)};
}

// The message was refused for that reason, and its sender is distrusted.
testing::AssertionResult is_refused(HandDriven& node, NodeId from, RaftMessage message,
                                    const std::string& message_name, const std::string& why) {
    const auto term = node->term();
    const auto last = node->log().last();
    const auto leader = node->leader();
    node.notes.clear();
    node.distrusted.clear();
    node.receive(from, std::move(message));
    const auto found = std::ranges::find(node.notes, Note::Kind::refused_message, &Note::kind);
    if (found == node.notes.end()) return testing::AssertionFailure() << "it was taken";
    if (found->peer != from || found->message != message_name || found->why != why) {
        return testing::AssertionFailure()
               << found->message << " of " << found->peer.raw() << ": " << found->why;
    }
    if (node.distrusted != std::vector{from}) return testing::AssertionFailure() << "trusted";
    const bool same = node->term() == term && node->log().last() == last;
    if (!same || node->leader() != leader) return testing::AssertionFailure() << "it had an effect";
    return testing::AssertionSuccess();
}

constexpr const char* append_request = "AppendRequest";
constexpr const char* second_leader = "there is another leader in this term";
constexpr const char* contradicts = "it contradicts what is certain here";

struct Checking {
    Checking() : leader{cluster.elect(n1)} {
        leader.propose();
        cluster.settle();
        cluster.beat(n1);
    }
    RaftCluster cluster{1, 2, 3};
    HandDriven& leader;
};

SnapshotChunk chunk_of(std::uint64_t term, LogId last, const Configuration& configuration) {
    SnapshotChunk chunk;
    chunk.term = Term{term};
    chunk.last = last;
    chunk.configuration = configuration;
    chunk.done = true;
    chunk.checksum = sum_with(0, chunk);
    return chunk;
}

TEST(RaftCheckMessage, ALeaderKnowsOfNoOtherInItsTerm) {
    Checking led;
    EXPECT_TRUE(is_refused(led.leader, n2, append(2, led.leader->log().last()), append_request,
                           second_leader));
    EXPECT_TRUE(led.leader->is_leader());
    EXPECT_TRUE(is_refused(led.leader, n2, chunk_of(2, log_id(2, 9), voters({1, 2, 3})),
                           "SnapshotChunk", second_leader));
    EXPECT_TRUE(led.leader->is_leader());
}

TEST(RaftCheckMessage, AFollowerFollowsOneLeaderInATerm) {
    Checking led;
    EXPECT_TRUE(
        is_refused(led.cluster[n2], n3, append(2, log_id(1, 1)), append_request, second_leader));
    EXPECT_EQ(led.cluster[n2]->leader(), n1);
}

TEST(RaftCheckMessage, WhatIsCommittedIsNotContradicted) {
    Checking led;
    auto& node = led.cluster[n2];
    const auto last = node->log().last();
    ASSERT_EQ(node->commit_index(), last.index);
    // An entry of another term in the place of a committed one, and of one before it.
    const auto other = commands({Term{3}, last.index});
    EXPECT_TRUE(is_refused(node, n3, append(3, node->log().at(last.index.previous()).id, {other}),
                           append_request, contradicts));
    EXPECT_TRUE(
        is_refused(node, n3, append(3, {Term{3}, last.index}), append_request, contradicts));
    EXPECT_TRUE(is_refused(node, n3, chunk_of(3, {Term{3}, last.index}, voters({1, 2, 3})),
                           "SnapshotChunk", contradicts));
}

// The same for the beginning of the log.
TEST(RaftCheckMessage, WhatIsPurgedIsNotContradicted) {
    Checking led;
    auto& node = led.cluster[n2];
    const auto last = node->log().last();
    node.purge_to(last.index.raw());
    EXPECT_TRUE(is_refused(
        node, n3,
        append(3, log_id(1, 1), {commands(log_id(1, 2)), commands({Term{3}, last.index})}),
        append_request, contradicts));
}

// A leader's log does not change: what was checked against it stays.
TEST(RaftCheckMessage, ALeaderDoesNotContradictItself) {
    auto node = follower_with({Term{1}, {}}, {});
    node.receive(n2, append(1, log_id(1, 1), {commands(log_id(1, 2)), commands(log_id(1, 3))}));
    node.complete_writes();
    EXPECT_TRUE(is_refused(node, n2, append(1, log_id(0, 2)), append_request, contradicts));
    // The next leader may have other entries.
    node.receive(n3, append(2, log_id(1, 1), {commands(log_id(2, 2))}));
    EXPECT_EQ(node->log().last(), log_id(2, 2));
}

// All voters have agreed to it, also before it is on disk here.
TEST(RaftCheckMessage, TheFoundingEntryStays) {
    HandDriven node{options_of(n1), RaftState{}};
    node.adopt_formation(founding_entry(voters({1, 2, 3})));
    ASSERT_EQ(node->commit_index(), LogIndex{});
    EXPECT_TRUE(
        is_refused(node, n2, append(2, {}, {commands(log_id(2, 1))}), append_request, contradicts));
    EXPECT_TRUE(is_refused(node, n2, chunk_of(2, log_id(2, 1), voters({1, 2, 3})), "SnapshotChunk",
                           contradicts));
}

TEST(RaftCheckMessage, AnEmptyNodeBeginsWithMembers) {
    HandDriven node{options_of(n1), RaftState{}};
    EXPECT_TRUE(is_refused(node, n2, append(1, {}, {commands(log_id(1, 1))}), append_request,
                           "it is malformed"));
}

TEST(RaftCheckMessage, MembersOfAnotherClusterAreNotTaken) {
    auto node = follower_with({Term{1}, {}}, {});
    auto other = voters({1, 2, 3});
    other.cluster.low += 1;
    const char* why = "it brings the members of another cluster";
    EXPECT_TRUE(is_refused(node, n2, append(1, log_id(1, 1), {configures(log_id(1, 2), other)}),
                           append_request, why));
    EXPECT_TRUE(is_refused(node, n2, chunk_of(1, log_id(1, 9), other), "SnapshotChunk", why));
}

// Otherwise a node that believes a lie about the log could append nothing more.
TEST(RaftCheckMessage, AStateDoesNotUseUpTheIndexes) {
    HandDriven node{options_of(n1), disk_with(voters({1, 2, 3}), {Term{1}, {}}, {})};
    const auto last = node->log().last().index.raw() + log_index_step_max;
    const auto at = [&](std::uint64_t index) {
        return chunk_of(1, log_id(1, index), voters({1, 2, 3}));
    };
    EXPECT_TRUE(
        is_refused(node, n2, at(last + 1), "SnapshotChunk", "a term or an index is out of bounds"));
    node.receive(n2, at(last));
    EXPECT_EQ(node.newest<SnapshotReply>(n2).last.index, LogIndex{last});
}

TEST(RaftCheckMessage, NobodyHasWhatWasNotSent) {
    Checking led;
    const auto last = led.leader->log().last().index.raw();
    led.cluster.cut(n2);
    for (int i = 0; i < 8; ++i)  // more than are sent without an answer
        led.leader.propose();
    ASSERT_GT(led.leader->log().last().index.raw(), last + options_of(n1).appends_in_flight_max);
    const auto sent = led.leader->progress_of(n2)->named.raw();
    ASSERT_LT(sent, led.leader->log().last().index.raw());
    const char* why = "it has what was never sent";
    EXPECT_TRUE(is_refused(led.leader, n2, accepts(2, sent + 1), "AppendReply", why));
    EXPECT_TRUE(
        is_refused(led.leader, n2, accepts(2, ~std::uint64_t{0} >> 2U), "AppendReply", why));
    const LogId beyond{Term{2}, LogIndex{sent + 1}};
    EXPECT_TRUE(is_refused(led.leader, n2, SnapshotReply{Term{2}, beyond, 0, true, false},
                           "SnapshotReply", why));
    EXPECT_TRUE(is_refused(led.leader, n2, accepts(2, last, 99), "AppendReply",
                           "it confirms a read that was not asked for"));
    led.leader.notes.clear();
    led.leader.receive(n2, accepts(2, sent));
    EXPECT_FALSE(led.leader.noted(Note::Kind::refused_message));
    EXPECT_EQ(led.leader->progress_of(n2)->match, LogIndex{sent});
}

// A false acknowledgement in its name says that it has everything. It reports itself what it lacks,
// and receives it.
TEST(RaftCheckMessage, AFalseAcknowledgementDoesNotKeepAMemberOut) {
    Checking led;
    led.cluster.cut(n3);
    led.leader.propose();
    led.cluster.settle();
    const auto last = led.leader->log().last().index;
    led.leader.receive(n3, accepts(2, last.raw()));
    ASSERT_EQ(led.leader->progress_of(n3)->match, last);
    led.cluster.heal(n3);
    for (int i = 0; i < 6; ++i)
        led.cluster.beat(n1);
    EXPECT_EQ(led.cluster[n3]->commit_index(), last);
}

TEST(RaftCheckMessage, AQuestionHasANumber) {
    auto node = follower_with({Term{1}, {}}, {});
    EXPECT_TRUE(is_refused(node, n2, ReadRequest{Term{1}, {}}, "ReadRequest", "it is malformed"));
    EXPECT_TRUE(
        is_refused(node, n2, ReadReply{Term{1}, {}, LogIndex{1}}, "ReadReply", "it is malformed"));
}

}  // namespace
}  // namespace mortise::core::test
