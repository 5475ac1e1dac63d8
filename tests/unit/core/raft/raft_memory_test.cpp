// A cluster that acknowledges from memory (docs/decisions/0095).
#include <gtest/gtest.h>

#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

Configuration in_memory(std::initializer_list<std::uint64_t> ids) {
    auto configuration = voters(ids);
    configuration.durability = Durability::replicated;
    return configuration;
}

RaftState disk_of(const Configuration& configuration, Unsynced unsynced = Unsynced::entries,
                  const std::vector<std::uint64_t>& terms = {}) {
    auto state = disk_with(configuration, {Term{1}, {}}, terms);
    state.unsynced = unsynced;
    return state;
}

// Node 1 of three, which follows node 2 in term 1.
HandDriven follower(const RaftState& disk) {
    HandDriven node{options_of(n1), disk};
    node.receive(n2, append(1, node->log().last(), {}, node->log().last().index.raw()));
    node.complete_writes();
    node.sent.clear();
    return node;
}

// --- what is synced

TEST(RaftMemory, EntriesNeedNoSync) {
    auto node = follower(disk_of(in_memory({1, 2, 3})));
    node.receive(n2, append(1, log_id(1, 1), {commands(log_id(1, 2))}));
    EXPECT_FALSE(node.writes.at(0).synced);
    EXPECT_EQ(node.sent_count<AppendReply>(n2), 0U);
    node.complete_writes();
    EXPECT_EQ(node.newest<AppendReply>(n2).match, LogIndex{2});
}

TEST(RaftMemory, EverythingIsSyncedInASyncedCluster) {
    auto node = follower(disk_with(voters({1, 2, 3}), {Term{1}, {}}, {}));
    node.receive(n2, append(1, log_id(1, 1), {commands(log_id(1, 2))}));
    EXPECT_TRUE(node.writes.at(0).synced);
    EXPECT_FALSE(node.writes.at(0).unsynced);
}

TEST(RaftMemory, TermsVotesAndTruncationsAreSynced) {
    auto node = follower(disk_of(in_memory({1, 2, 3}), Unsynced::entries, {1, 1}));
    node.receive(n3, append(2, log_id(1, 1)));
    EXPECT_TRUE(node.writes.at(0).synced);  // the term
    node.complete_writes();
    auto other = follower(disk_of(in_memory({1, 2, 3})));
    other.receive(n2, append(1, log_id(1, 1), {commands(log_id(1, 2)), commands(log_id(1, 3))}));
    other.complete_writes();
    other.receive(n3, append(2, log_id(1, 1)));
    other.complete_writes();
    other.receive(n3, append(2, log_id(1, 1), {commands(log_id(2, 2))}));
    ASSERT_TRUE(other.writes.at(0).truncate_from);
    EXPECT_TRUE(other.writes.at(0).synced);
}

TEST(RaftMemory, SealedEntriesAreSynced) {
    for (const auto kind : {EntryKind::sealed_commands, EntryKind::era, EntryKind::noop}) {
        auto node = follower(disk_of(in_memory({1, 2, 3})));
        node.receive(n2, append(1, log_id(1, 1),
                                {commands(log_id(1, 2)), make_entry(log_id(1, 3), kind, {})}));
        EXPECT_TRUE(node.writes.at(0).synced);
    }
    auto node = follower(disk_of(in_memory({1, 2, 3})));
    node.receive(n2, append(1, log_id(1, 1), {configures(log_id(1, 2), in_memory({1, 2, 3}))}));
    EXPECT_TRUE(node.writes.at(0).synced);
}

// --- the mark

TEST(RaftMemory, NothingIsUnsyncedBeforeTheMarkIsDurable) {
    HandDriven node{options_of(n1), disk_of(in_memory({1, 2, 3}), Unsynced::nothing)};
    node.receive(n2, append(1, log_id(1, 1), {commands(log_id(1, 2))}, 1));
    ASSERT_EQ(node.writes.size(), 1U);
    EXPECT_EQ(node.writes.at(0).unsynced, Unsynced::entries);
    EXPECT_TRUE(node.writes.at(0).synced);
    node.receive(n2, append(1, log_id(1, 2), {commands(log_id(1, 3))}, 1));
    EXPECT_TRUE(node.writes.at(1).synced);
    node.complete_writes();
    node.receive(n2, append(1, log_id(1, 3), {commands(log_id(1, 4))}, 1));
    EXPECT_FALSE(node.writes.at(0).synced);
}

TEST(RaftMemory, TheClusterChangesWhenTheEntryIsCommitted) {
    auto node = follower(disk_with(voters({1, 2, 3}), {Term{1}, {}}, {}));
    node.receive(n2, append(1, log_id(1, 1), {configures(log_id(1, 2), in_memory({1, 2, 3}))}, 1));
    node.complete_writes();
    node.receive(n2, append(1, log_id(1, 2), {commands(log_id(1, 3))}, 1));
    EXPECT_TRUE(node.writes.at(0).synced);
    EXPECT_FALSE(node.writes.at(0).unsynced);
    node.complete_writes();
    node.receive(n2, append(1, log_id(1, 3), {}, 2));
    EXPECT_EQ(node.writes.at(0).unsynced, Unsynced::entries);
}

TEST(RaftMemory, TheWayBackSyncsFromTheEntryOn) {
    auto node = follower(disk_of(in_memory({1, 2, 3})));
    node.receive(n2, append(1, log_id(1, 1), {configures(log_id(1, 2), voters({1, 2, 3}))}, 1));
    EXPECT_TRUE(node.writes.at(0).synced);
    node.complete_writes();
    node.receive(n2, append(1, log_id(1, 2), {commands(log_id(1, 3))}, 1));
    EXPECT_TRUE(node.writes.at(0).synced);
    node.complete_writes();
    EXPECT_EQ(node->unsynced(), Unsynced::entries);
    node.receive(n2, append(1, log_id(1, 3), {}, 2));
    EXPECT_EQ(node.writes.at(0).unsynced, Unsynced::nothing);
    EXPECT_TRUE(node.writes.at(0).synced);
}

// --- a node that may have forgotten entries

TEST(RaftMemory, AForgetfulNodeVotesOnlyIfAllDo) {
    HandDriven node{options_of(n1), disk_of(in_memory({1, 2, 3}), Unsynced::forgotten)};
    EXPECT_TRUE(node->is_forgetful());
    node.receive(n2, PreVoteRequest{Term{1}, 1, log_id(1, 1)});
    const auto pre_vote = node.newest<PreVoteReply>(n2);
    EXPECT_FALSE(pre_vote.granted);
    EXPECT_TRUE(pre_vote.if_all);
    node.receive(n2, VoteRequest{Term{2}, 1, log_id(1, 1)});
    EXPECT_EQ(node.sent_count<VoteReply>(n2), 0U);
    EXPECT_TRUE(node.writes.at(0).synced);
    node.complete_writes();
    const auto vote = node.newest<VoteReply>(n2);
    EXPECT_FALSE(vote.granted);
    EXPECT_TRUE(vote.if_all);
    // It is a vote: nobody else gets one in that term.
    node.receive(n3, VoteRequest{Term{2}, 1, log_id(1, 1)});
    const auto second = node.newest<VoteReply>(n3);
    EXPECT_FALSE(second.granted || second.if_all);
}

TEST(RaftMemory, AForgetfulNodeRefusesAShorterLog) {
    HandDriven node{options_of(n1), disk_of(in_memory({1, 2, 3}), Unsynced::forgotten, {1})};
    node.receive(n2, VoteRequest{Term{2}, 1, log_id(1, 1)});
    node.complete_writes();
    const auto vote = node.newest<VoteReply>(n2);
    EXPECT_FALSE(vote.granted || vote.if_all);
}

// It does not count for itself either.
TEST(RaftMemory, AForgetfulNodeNeedsAMajorityOfOthers) {
    HandDriven node{options_of(n1), disk_of(in_memory({1, 2, 3}), Unsynced::forgotten)};
    node.timer_when_due();
    const auto round = node.newest<PreVoteRequest>(n2).round;
    node.receive(n2, PreVoteReply{Term{1}, round, true});
    EXPECT_EQ(node->role(), Role::pre_candidate);
    node.receive(n3, PreVoteReply{Term{1}, round, true});
    EXPECT_EQ(node->role(), Role::candidate);
    node.complete_writes();
    const auto asked = node.newest<VoteRequest>(n2).round;
    node.receive(n2, VoteReply{Term{2}, asked, true});
    EXPECT_EQ(node->role(), Role::candidate);
    node.receive(n3, VoteReply{Term{2}, asked, true});
    ASSERT_TRUE(node->is_leader());
    EXPECT_EQ(node->log().at(node->log().last().index).kind, EntryKind::noop);
}

TEST(RaftMemory, ItRecoversWhenItHasWhatIsCommitted) {
    auto node = follower(disk_of(in_memory({1, 2, 3}), Unsynced::forgotten));
    EXPECT_TRUE(node->is_forgetful());
    node.recover_at(2);
    EXPECT_TRUE(node->is_forgetful());
    node.receive(n2, append(1, log_id(1, 1), {commands(log_id(1, 2))}, 2));
    EXPECT_TRUE(node->is_forgetful());  // it is not durable
    node.complete_writes();
    EXPECT_FALSE(node->is_forgetful());
    ASSERT_EQ(node.writes.size(), 0U);
    EXPECT_EQ(node.disk().unsynced, Unsynced::entries);
    EXPECT_TRUE(node.noted(Note::Kind::recovered));
}

// A later answer has a larger index under load, and the first one was already enough.
TEST(RaftMemory, TheFirstAnswerIsEnough) {
    auto node = follower(disk_of(in_memory({1, 2, 3}), Unsynced::forgotten));
    node.recover_at(2);
    node.recover_at(9);
    node.receive(n2, append(1, log_id(1, 1), {commands(log_id(1, 2))}, 2));
    node.complete_writes();
    EXPECT_FALSE(node->is_forgetful());
}

TEST(RaftMemory, ItIsForgetfulThroughRestartsUntilThen) {
    auto node = follower(disk_of(in_memory({1, 2, 3}), Unsynced::forgotten));
    node.recover_at(2);
    node.crash_and_restart();
    EXPECT_TRUE(node->is_forgetful());
}

// A learner is not asked about an era, and may have committed what the voters have lost.
TEST(RaftMemory, ALearnerIsLeftBehindByAnEra) {
    auto configuration = in_memory({2, 3});
    configuration.learners = members({1});
    auto node = follower(disk_of(configuration));
    node.receive(n2, append(1, log_id(1, 1), {commands(log_id(1, 2))}, 2));
    node.complete_writes();
    ASSERT_EQ(node->commit_index(), LogIndex{2});
    EXPECT_FALSE(node->is_left_behind());
    node.receive(n3, append(2, log_id(1, 1), {make_entry(log_id(2, 2), EntryKind::era, {})}, 2));
    EXPECT_TRUE(node->is_left_behind());
}

TEST(RaftMemory, AVoterRefusesThat) {
    auto node = follower(disk_of(in_memory({1, 2, 3})));
    node.receive(n2, append(1, log_id(1, 1), {commands(log_id(1, 2))}, 2));
    node.complete_writes();
    node.receive(n3, append(2, log_id(1, 1), {make_entry(log_id(2, 2), EntryKind::era, {})}, 2));
    EXPECT_FALSE(node->is_left_behind());
    EXPECT_EQ(node.distrusted, std::vector{n3});
}

// --- a cluster

struct RaftMemoryCluster : testing::Test {
    void lose_power(std::initializer_list<NodeId> ids) {
        for (const auto id : ids)
            cluster[id].lose_power_and_restart();
    }
    [[nodiscard]] HandDriven* leader() {
        for (auto& [id, node] : cluster) {
            if (node->is_leader()) return &node;
        }
        return nullptr;
    }
    void try_to_elect() {
        for (int i = 0; i < 6; ++i) {
            for (auto& [id, node] : cluster) {
                if (leader() != nullptr) return;
                cluster.pass(election_timeout);
                node.timer();
                cluster.settle();
            }
        }
    }

    std::map<NodeId, RaftState> disks{{n1, disk_of(in_memory({1, 2, 3}))},
                                      {n2, disk_of(in_memory({1, 2, 3}))},
                                      {n3, disk_of(in_memory({1, 2, 3}))}};
    RaftCluster cluster{in_memory({1, 2, 3}), options_of(n1), disks};
};

TEST_F(RaftMemoryCluster, AKilledProcessForgetsNothing) {
    auto& first = cluster.elect(n1);
    first.propose();
    cluster.settle();
    const auto last = first->commit_index();
    cluster.cut(n1);
    for (const auto id : {n2, n3})
        cluster[id].crash_and_restart();
    auto& second = cluster.elect(n2);
    EXPECT_GE(second->commit_index(), last);
    EXPECT_FALSE(second.noted(Note::Kind::era_begun));
}

// The node that was lost with it has the entry, and the one that has forgotten it must not elect
// the third one, which never had it.
TEST_F(RaftMemoryCluster, AMinorityThatLosesPowerElectsNobody) {
    auto& first = cluster.elect(n1);
    cluster.cut(n3);
    first.propose();
    cluster.settle();
    EXPECT_EQ(first->commit_index(), first->log().last().index);
    cluster.cut(n1);
    cluster.heal(n3);
    lose_power({n2});
    EXPECT_TRUE(cluster[n2]->is_forgetful());
    try_to_elect();
    EXPECT_FALSE(cluster[n2]->is_leader() || cluster[n3]->is_leader());
}

TEST_F(RaftMemoryCluster, AForgetfulNodeIsCountedByItsLeader) {
    auto& first = cluster.elect(n1);
    cluster.cut(n3);
    first.propose();
    cluster.settle();
    lose_power({n2});
    first.peer_restarted(n2);
    cluster.beat(n1);
    first.propose();
    cluster.settle();
    EXPECT_EQ(first->commit_index(), first->log().last().index);
    EXPECT_TRUE(cluster[n2]->is_forgetful());
    EXPECT_EQ(cluster[n2]->log().last(), first->log().last());
}

TEST_F(RaftMemoryCluster, AllAgreeOnAnEraWithTheNewestLog) {
    auto& first = cluster.elect(n1);
    first.propose();
    cluster.settle();
    cluster[n2].sync();
    const auto kept = first->log().last();
    first.propose();
    cluster.settle();
    lose_power({n1, n2, n3});
    try_to_elect();
    auto* second = leader();
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(second->self(), n2);
    EXPECT_TRUE(second->raft().log().has(kept));
    EXPECT_EQ((*second)->log().at(kept.index.next()).kind, EntryKind::era);
    EXPECT_TRUE(second->noted(Note::Kind::era_begun));
}

TEST_F(RaftMemoryCluster, AnEraNeedsEveryVoter) {
    cluster.elect(n1);
    lose_power({n1, n2, n3});
    cluster.cut(n3);
    try_to_elect();
    EXPECT_EQ(leader(), nullptr);
    cluster.heal(n3);
    try_to_elect();
    EXPECT_NE(leader(), nullptr);
}

// One that has forgotten nothing is enough for no majority, but it takes part.
TEST_F(RaftMemoryCluster, AnEraHasWhatOneVoterRemembers) {
    auto& first = cluster.elect(n1);
    first.propose();
    cluster.settle();
    const auto last = first->log().last();
    cluster[n3].crash_and_restart();
    lose_power({n1, n2});
    try_to_elect();
    auto* second = leader();
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(second->self(), n3);
    EXPECT_TRUE((*second)->log().has(last));
    EXPECT_EQ((*second)->log().at(last.index.next()).kind, EntryKind::era);
}

TEST_F(RaftMemoryCluster, NoEraWhileAMajorityRemembers) {
    cluster.elect(n1);
    lose_power({n1});
    cluster.elect(n2);
    EXPECT_FALSE(cluster[n2].noted(Note::Kind::era_begun));
}

// Until the entry of the era is committed, a leader answers no read: so nobody recovers.
TEST_F(RaftMemoryCluster, NobodyRecoversBeforeTheEraIsCommitted) {
    cluster.elect(n1);
    lose_power({n1, n2, n3});
    for (const auto id : {n1, n2, n3})
        cluster.stall_disk(id);
    auto& node = cluster[n1];
    cluster.pass(3 * election_timeout);
    node.timer();
    cluster.settle();
    for (int i = 0; i < 4 && !node->is_leader(); ++i) {
        for (auto& [id, each] : cluster)
            each.complete_writes();
        cluster.settle();
    }
    ASSERT_TRUE(node->is_leader());
    ASSERT_TRUE(node.read(1));
    cluster.settle();
    EXPECT_TRUE(node.reads.empty());
    for (const auto id : {n1, n2, n3})
        cluster.free_disk(id);
    cluster.settle();
    EXPECT_EQ(node.reads.size(), 1U);
}

TEST_F(RaftMemoryCluster, TheDurabilityChangesBothWays) {
    auto& first = cluster.elect(n1);
    ASSERT_TRUE(first.set_durability(Durability::synced));
    cluster.settle();
    cluster.beat(n1);
    for (auto& [id, node] : cluster)
        EXPECT_EQ(node.disk().unsynced, Unsynced::nothing) << id.raw();
    ASSERT_TRUE(first.set_durability(Durability::replicated));
    cluster.settle();
    cluster.beat(n1);
    for (auto& [id, node] : cluster)
        EXPECT_EQ(node.disk().unsynced, Unsynced::entries) << id.raw();
}

}  // namespace
}  // namespace mortise::core::test
