#include "core/node/commit_audience.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Sessions of nodes 1, 2 and 3, numbered like them.
class CommitAudienceTest : public testing::Test {
protected:
    CommitAudienceTest() {
        for (std::uint64_t id : {1, 2, 3})
            apply({opening_of(NodeId{id}, 10'000)});
    }
    CommitAudience apply(const std::vector<Command>& commands) {
        applied_ = {};
        applied_.entry.kind = EntryKind::commands;
        index_ = index_.next();
        machine_.apply(index_, commands, applied_.outcomes);
        return audience_of(applied_, machine_, members_, 4);
    }
    CommitAudience acquire(std::uint64_t node, std::uint64_t seq) {
        return apply({Request{SessionId{node}, Seq{seq}, one("a", LockMode::exclusive)}});
    }
    static Acquire one(std::string name, LockMode mode) {
        Acquire acquire;
        acquire.names.push_back({std::move(name), mode});
        return acquire;
    }

    LockMachine machine_;
    SessionMembers members_;
    Applied applied_;
    LogIndex index_;
};

TEST_F(CommitAudienceTest, AGrantConcernsTheNodeOfItsCaller) {
    const auto audience = acquire(2, 1);
    EXPECT_FALSE(audience.everybody);
    EXPECT_THAT(audience.nodes, UnorderedElementsAre(NodeId{2}));
}

TEST_F(CommitAudienceTest, AWaiterConcernsTheHolderToo) {
    acquire(2, 1);
    EXPECT_THAT(acquire(3, 1).nodes, UnorderedElementsAre(NodeId{2}, NodeId{3}));
}

TEST_F(CommitAudienceTest, AWaiterBehindManyHoldersConcernsEverybody) {
    for (std::uint64_t seq = 1; seq <= 9; ++seq)
        apply({Request{SessionId{2}, Seq{seq}, one("b", LockMode::shared)}});
    EXPECT_TRUE(apply({Request{SessionId{3}, Seq{1}, one("b", LockMode::exclusive)}}).everybody);
}

TEST_F(CommitAudienceTest, AReleaseConcernsTheNextHolderToo) {
    acquire(2, 1);
    acquire(3, 1);
    const auto audience = apply({Request{SessionId{2}, Seq{2}, Release{Seq{1}, false}}});
    EXPECT_THAT(audience.nodes, UnorderedElementsAre(NodeId{2}, NodeId{3}));
}

TEST_F(CommitAudienceTest, AskingForAReleaseConcernsTheHolder) {
    acquire(2, 1);
    const auto audience = apply({Request{SessionId{3}, Seq{1}, AskRelease{"a", "please"}}});
    EXPECT_THAT(audience.nodes, UnorderedElementsAre(NodeId{2}, NodeId{3}));
}

// Each voter counts down the time of a session.
TEST_F(CommitAudienceTest, ARenewalConcernsEverybody) {
    EXPECT_TRUE(apply({Renew{{{SessionId{1}, 1}}}}).everybody);
}

TEST_F(CommitAudienceTest, AnythingButCommandsConcernsEverybody) {
    Applied applied;
    for (const auto kind : {EntryKind::noop, EntryKind::configuration, EntryKind::state_sum}) {
        applied.entry.kind = kind;
        EXPECT_TRUE(audience_of(applied, machine_, members_, 4).everybody);
    }
}

TEST_F(CommitAudienceTest, AnAcknowledgementConcernsNobody) {
    const auto audience = apply({Acknowledge{SessionId{1}, LogIndex{1}}});
    EXPECT_FALSE(audience.everybody);
    EXPECT_THAT(audience.nodes, IsEmpty());
}

// --- in a cluster

class NodeCoreCommits : public testing::Test {
protected:
    NodeCoreCommits() {
        cluster.connect_all();
        cluster.run_for(3s);
        leader = cluster.leader();
    }
    void SetUp() override { ASSERT_NE(leader, nullptr); }
    // Without passing time, so without heartbeats.
    void acquire(HandDrivenNode& node, std::uint64_t tag) {
        node.acquire(tag, "a");
        cluster.settle();
    }

    NodeCluster cluster{1, 2, 3};
    HandDrivenNode* leader = nullptr;
};

TEST_F(NodeCoreCommits, AFollowerThatWaitsIsToldAtOnceAndNoOther) {
    std::vector<HandDrivenNode*> followers;
    for (auto& [id, node] : cluster) {
        if (&node != leader) followers.push_back(&node);
    }
    const auto before = followers[1]->raft().commit_index();
    acquire(*followers[0], 7);
    EXPECT_TRUE(followers[0]->was_answered<Acquired>(7));
    EXPECT_EQ(followers[1]->raft().commit_index(), before);
    cluster.run_for(2 * heartbeat);
    EXPECT_EQ(followers[1]->raft().commit_index(), leader->raft().commit_index());
}

// It learns that it holds what the other released, although it is not a heartbeat's time yet.
TEST_F(NodeCoreCommits, TheNextHolderIsToldAtOnce) {  // P7
    std::vector<HandDrivenNode*> followers;
    for (auto& [id, node] : cluster) {
        if (&node != leader) followers.push_back(&node);
    }
    acquire(*followers[0], 7);
    acquire(*followers[1], 8);
    followers[0]->call(ReleaseCall{CallTag{9}, followers[0]->granted(7)});
    cluster.settle();
    EXPECT_TRUE(followers[1]->was_answered<Acquired>(8));
}

TEST_F(NodeCoreCommits, AReaderIsToldAtOnceOfWhatItReads) {  // P7
    auto* follower = &cluster.begin()->second;
    if (follower == leader) follower = &std::next(cluster.begin())->second;
    acquire(*leader, 7);
    ASSERT_LT(follower->raft().commit_index(), leader->raft().commit_index());
    follower->inspect(8, "a");
    cluster.settle();
    EXPECT_TRUE(follower->was_answered<Viewed>(8));
}

// S49: only its leader knows by which member a client's requests come.
TEST_F(CommitAudienceTest, AGrantOfAClientConcernsTheMemberThatItUses) {
    OpenSession opening;
    opening.nonce = 77;
    opening.ttl_ms = 10'000;
    apply({opening});
    const auto client = machine_.sessions().newest();
    EXPECT_TRUE(acquire(client.raw(), 1).everybody);
    members_.came_by(client, NodeId{3});
    const auto audience = acquire(client.raw(), 2);
    EXPECT_FALSE(audience.everybody);
    EXPECT_THAT(audience.nodes, UnorderedElementsAre(NodeId{3}));
}

}  // namespace
}  // namespace mortise::core::test
