#include "core/node/node_core.hpp"

#include <gtest/gtest.h>

#include "core/base/check.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

// Formed, connected, led by node 1.
struct Running {
    explicit Running(std::initializer_list<std::uint64_t> ids = {1, 2, 3}) : cluster{ids} {
        cluster.connect_all();
        cluster.run_for(5 * heartbeat);
    }

    NodeCluster cluster;
    HandDrivenNode& leader{cluster[n1]};
};

std::uint64_t tag = 100;

void ask_something(HandDrivenNode& node) {
    ++tag;
    node.acquire(tag, "name" + std::to_string(tag));
}

RaftMessage harmless() {
    return PreVoteRequest{Term{2}, 1, log_id(1, 1)};
}

TEST(NodeCore, NeedsAnIdentity) {
    auto options = node_options(1, {1});
    options.incarnation = {};
    EXPECT_THROW((NodeCore{options, {}, Now{start, start}}), InvariantBroken);
}

TEST(NodeCore, GrantsOnEveryNodeWhatItsLeaderIsAskedFor) {
    Running running;
    running.leader.acquire(17, "name");
    running.cluster.settle();
    EXPECT_TRUE(running.leader.was_answered<Acquired>(17));
    for (const auto& [node_id, node] : running.cluster) {
        EXPECT_EQ(node.core().machine().inspect("name").holders.size(), 1U);
    }
}

TEST(NodeCore, ForwardsToItsLeaderWhatItIsAskedFor) {
    Running running;
    auto& follower = running.cluster[n2];
    follower.acquire(17, "name");
    running.cluster.settle();
    EXPECT_TRUE(follower.was_answered<Acquired>(17));
}

TEST(NodeCore, HandsLeadershipOver) {
    Running running;
    running.leader.step(TransferLeadership{n3});
    running.cluster.settle();
    EXPECT_TRUE(running.cluster[n3].raft().is_leader());
}

// --- whom it believes (S47, M12)

TEST(NodeCore, RefusesMessagesWithoutAConnection) {
    Running running;
    running.leader.step(PeerDown{n2});
    const auto refused = running.leader.core().refused_messages();
    running.leader.receive(n2, harmless());
    running.leader.receive(n5, harmless());
    EXPECT_EQ(running.leader.core().refused_messages(), refused + 2);
    EXPECT_TRUE(running.leader.sent.empty());
}

TEST(NodeCore, RefusesMessagesOfAWipedMember) {
    Running running;
    running.cluster.wipe_and_restart(n2);
    auto& wiped = running.cluster[n2];
    running.cluster.connect_all();
    running.cluster.run_for(3 * election_timeout);
    EXPECT_FALSE(wiped.is_formed());
    EXPECT_TRUE(wiped.disk().entries.empty());
    EXPECT_TRUE(running.leader.raft().is_leader());
    const auto refused = running.leader.core().refused_messages();
    running.leader.receive(n2, RaftMessage{accepts(running.leader.raft().term().raw(), 2)});
    EXPECT_EQ(running.leader.core().refused_messages(), refused + 1);
}

// M12: it would say "I have nothing" or vote twice, from amnesia.
TEST(NodeCore, AWipedMemberDoesNotCountForCommits) {
    Running running;
    running.cluster.wipe_and_restart(n2);
    running.cluster.connect_all();
    running.cluster.disconnect(n1, n3);
    const auto commit = running.leader.raft().commit_index();
    ask_something(running.leader);
    running.cluster.settle();
    EXPECT_EQ(running.leader.raft().commit_index(), commit);
}

TEST(NodeCore, RefusesMessagesOfAnotherCluster) {
    Running running;
    auto hello = running.cluster[n2].hello();
    hello.cluster = {1, 1};
    running.leader.step(PeerDown{n2});
    running.leader.step(PeerUp{hello});
    const auto refused = running.leader.core().refused_messages();
    running.leader.receive(n2, harmless());
    EXPECT_EQ(running.leader.core().refused_messages(), refused + 1);
}

// A restored backup says an earlier epoch of the same incarnation.
TEST(NodeCore, TheNewestLifeOfAPeerStands) {
    Running running;
    auto newer = running.cluster[n2].hello();
    newer.boot_epoch = BootEpoch{5};
    running.leader.step(PeerUp{newer});
    const auto refused = running.leader.core().refused_messages();
    auto older = newer;
    older.boot_epoch = BootEpoch{4};
    running.leader.step(PeerDown{n2});
    running.leader.step(PeerUp{older});
    EXPECT_EQ(running.leader.core().refused_messages(), refused + 1);
    running.leader.receive(n2, harmless());
    EXPECT_EQ(running.leader.core().refused_messages(), refused + 2);
    running.leader.step(PeerUp{newer});
    running.leader.receive(n2, harmless());
    EXPECT_EQ(running.leader.core().refused_messages(), refused + 2);
}

// A connection may be replaced before its end is noticed.
TEST(NodeCore, AMemberIsWhatItsNewestConnectionSays) {
    Running running;
    auto wiped = running.cluster[n2].hello();
    wiped.incarnation = Incarnation{9999};
    running.leader.step(PeerUp{wiped});
    const auto refused = running.leader.core().refused_messages();
    running.leader.receive(n2, harmless());
    EXPECT_EQ(running.leader.core().refused_messages(), refused + 1);
    running.leader.step(PeerUp{running.cluster[n2].hello()});
    running.leader.receive(n2, harmless());
    EXPECT_EQ(running.leader.core().refused_messages(), refused + 1);
}

TEST(NodeCore, AMemberThatRestartsIsBelievedAgain) {
    Running running;
    running.cluster.crash_and_restart(n2);
    running.cluster.connect_all();
    ask_something(running.leader);
    running.cluster.run_for(5 * heartbeat);
    EXPECT_EQ(running.cluster[n2].raft().commit_index(), running.leader.raft().commit_index());
    EXPECT_TRUE(running.leader.raft().is_leader());
}

TEST(NodeCore, AnElectionFollowsSoonWhenTheLeaderIsGone) {
    Running running;
    running.cluster.crash_and_restart(n1);
    running.cluster.run_for(heartbeat);
    ASSERT_NE(running.cluster.leader(), nullptr);
    EXPECT_EQ(running.cluster.leader()->raft().term(), Term{3});
}

// --- reads

TEST(NodeCore, AnswersAReadOnLeaderAndFollower) {
    Running running;
    for (const auto id : {n1, n3}) {
        auto& node = running.cluster[id];
        node.inspect(41, "name");
        EXPECT_FALSE(node.was_answered<Viewed>(41));
        running.cluster.settle();
        EXPECT_TRUE(node.was_answered<Viewed>(41));
    }
}

TEST(NodeCore, AReadWithoutALeaderEndsWithNoQuorum) {
    HandDrivenNode node{1, {1, 2, 3}};
    node.inspect(41, "name");
    EXPECT_TRUE(node.answers.empty());
    node.now = node.now + node_options(1, {1}).call_timeout;
    node.timer();
    EXPECT_TRUE(node.was_answered<CallError>(41));
}

// R1: no two questions share an id, in one life or in two.
TEST(NodeCore, NeverUsesAReadIdTwice) {
    Running running;
    auto& follower = running.cluster[n3];
    std::set<ReadId> seen;
    for (int life = 0; life < 3; ++life) {
        for (int i = 0; i < 5; ++i) {
            follower.inspect(++tag, "name");
            EXPECT_TRUE(seen.insert(follower.newest<ReadRequest>(n1).id).second);
        }
        running.cluster.crash_and_restart(n3);
        running.cluster.connect_all();
        running.cluster.run_for(2 * heartbeat);
        ASSERT_EQ(follower.raft().leader(), n1);
    }
}

// R1: an answer to a former life's question, or one that comes twice, is no answer.
TEST(NodeCore, AnOldAnswerIsNotTakenForTheNewOne) {
    Running running;
    auto& follower = running.cluster[n3];
    follower.inspect(1, "name");
    const auto old = follower.newest<ReadRequest>(n1).id;
    running.cluster.crash_and_restart(n3);
    running.cluster.connect_all();
    running.cluster.run_for(2 * heartbeat);
    follower.answers.clear();
    follower.inspect(2, "name");
    const auto asked = follower.newest<ReadRequest>(n1).id;
    follower.receive(n1, RaftMessage{ReadReply{follower.raft().term(), old, LogIndex{1}}});
    EXPECT_TRUE(follower.answers.empty());
    const RaftMessage answer = ReadReply{follower.raft().term(), asked, LogIndex{2}};
    follower.receive(n1, answer);
    follower.receive(n1, answer);
    ASSERT_EQ(follower.answers.size(), 1U);
    EXPECT_TRUE(follower.was_answered<Viewed>(2));
}

// R3: what was asked of a leader that is gone is asked again of the next.
TEST(NodeCore, AReadOutlivesTheLeaderThatItWasAskedOf) {
    Running running;
    auto& follower = running.cluster[n3];
    follower.inspect(41, "name");
    follower.take<ReadRequest>(n1);  // lost
    running.cluster.crash_and_restart(n1);
    running.cluster.connect_all();
    running.cluster.run_for(3 * election_timeout);
    EXPECT_TRUE(follower.was_answered<Viewed>(41));
}

// --- purging

TEST(NodeCore, PurgesWhatEverybodyHasAndItsStateContains) {
    Running running;
    for (int i = 0; i < 5; ++i)
        ask_something(running.leader);
    running.cluster.run_for(3 * heartbeat);
    const auto all = running.leader.raft().commit_index();
    ASSERT_EQ(running.leader.raft().replicated_index(), all);
    running.leader.step(StateDurable{all.previous()});
    EXPECT_EQ(running.leader.purged_to, all.previous());
    EXPECT_EQ(running.leader.raft().log().base().index, all.previous());
    running.leader.step(StateDurable{LogIndex{1}});
    EXPECT_EQ(running.leader.raft().log().base().index, all.previous());
}

TEST(NodeCore, KeepsTheLogForASlowMember) {
    Running running;
    const auto common = running.leader.raft().replicated_index();
    running.cluster.disconnect(n1, n3);
    running.cluster.disconnect(n2, n3);
    for (int i = 0; i < 5; ++i)
        ask_something(running.leader);
    running.cluster.run_for(3 * heartbeat);
    running.leader.step(StateDurable{running.leader.raft().commit_index()});
    EXPECT_EQ(running.leader.raft().log().base().index, common);
}

TEST(NodeCore, KeepsTheLogForASlowMemberWithinLimits) {
    auto options = node_options(1, {1, 2, 3});
    options.log_bytes_max = 100;
    auto state = disk_with(voters({1, 2, 3}), {Term{1}, {}}, std::vector<std::uint64_t>(20, 1));
    for (auto& entry : state.entries) {  // nothing to apply in them
        if (entry.kind == EntryKind::commands) entry = make_entry(entry.id, EntryKind::noop, {});
    }
    HandDrivenNode node{options, state};
    node.step(PeerUp{HandDrivenNode{node_options(2, {1, 2, 3}), state}.hello()});
    node.receive(n2, RaftMessage{append(1, log_id(1, 21), {}, 15)});
    ASSERT_GT(node.raft().log().bytes(), 100U);
    ASSERT_EQ(node.raft().replicated_index(), LogIndex{});
    node.step(StateDurable{LogIndex{12}});
    EXPECT_EQ(node.purged_to, LogIndex{12});
    node.step(StateDurable{LogIndex{99}});  // never more than is committed
    EXPECT_EQ(node.purged_to, LogIndex{15});
}

TEST(NodeCore, StillOffersTheFoundingEntryAfterARestart) {
    NodeCluster cluster{1, 2, 3};
    cluster.connect_all();
    cluster[n1].complete_writes();
    cluster.crash_and_restart(n1);
    cluster.connect(n1, n2);
    EXPECT_EQ(cluster[n1].take<FormationOffer>(n2).size(), 1U);
}

TEST(NodeCore, TellsWhenItWantsToBeCalled) {
    Running running;
    const auto due = running.leader.core().deadline();
    EXPECT_GT(due, running.leader.now);
    EXPECT_LE(due, running.leader.now + heartbeat);
    const auto effects = NodeCore{node_options(1, {1, 2}), {}, Now{start, start}}.step(
        TimerFired{}, Now{start, start});
    EXPECT_EQ(effects.deadline, Instant::never());
}

}  // namespace
}  // namespace mortise::core::test
