// A snapshot from the leader replaces a node's own state: what its program learns of what it
// missed, and how an invalid snapshot is handled.
#include <map>

#include <gtest/gtest.h>

#include "core/observe/observer.hpp"
#include "core/raft/snapshot_sum.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

const std::string name = "name";

SnapshotChunk summed(SnapshotChunk chunk) {
    chunk.checksum = sum_with(0, chunk);
    return chunk;
}

// Node 1 leads and continues with node 2, while node 3 receives nothing.
struct LeftBehind {
    LeftBehind() {
        cluster.connect_all();
        cluster.run_for(5 * heartbeat);
    }
    void leave_behind() {
        cluster.disconnect(n1, n3);
        cluster.disconnect(n2, n3);
    }
    void meet_again() {
        cluster.connect(n1, n3);
        cluster.connect(n2, n3);
        cluster.run_for(5 * heartbeat);
    }
    OperationId hold_of(const HandDrivenNode& holder, std::uint64_t tag) {
        for (const auto& answer : holder.answers) {
            const auto* acquired = std::get_if<Acquired>(&answer.result);
            if (answer.tag == CallTag{tag} && acquired != nullptr) return acquired->hold;
        }
        return {};
    }
    // The state that the leader has handed over to its disk, in one chunk.
    SnapshotChunk state() {
        cluster.run_for(2 * node_options(1, {1}).state_interval);
        std::map<std::string, Row> rows;
        for (const auto& delta : leader.deltas) {
            for (const auto& row : delta.rows) {
                if (row.value) {
                    rows.insert_or_assign(row.key, row);
                } else {
                    rows.erase(row.key);
                }
            }
        }
        const auto& newest = leader.deltas.back();
        SnapshotChunk chunk{
            leader.raft().term(), newest.applied, newest.configuration, 0, {}, true, 0};
        for (const auto& [key, row] : rows)
            chunk.rows.push_back(row);
        return summed(std::move(chunk));
    }
    void bring(const SnapshotChunk& chunk) {
        node.step(PeerUp{leader.hello()});
        node.receive(n1, RaftMessage{chunk});
    }

    NodeCluster cluster{1, 2, 3};
    HandDrivenNode& leader{cluster[n1]};
    HandDrivenNode& node{cluster[n3]};
};

std::vector<Observed> told_to(Observer& observer, const NodeCore& core) {
    ObserverBudget budget{100, 100};
    std::vector<Observed> told;
    observer.take(core.changes(), core.machine(), budget, told);
    return told;
}

TEST(NodeCoreInstallSnapshot, IsAGapForObservers) {  // S46
    LeftBehind it;
    Observer observer{{"n"}, {}};
    EXPECT_EQ(told_to(observer, it.node.core()).size(), 2U);  // the state of no names
    it.leave_behind();
    it.leader.acquire(1, name);
    it.cluster.settle();
    const auto chunk = it.state();
    it.bring(chunk);
    it.node.step(StateInstalled{chunk.last});
    const auto told = told_to(observer, it.node.core());
    ASSERT_EQ(told.size(), 3U);
    EXPECT_TRUE(std::holds_alternative<Gap>(told[0].what));
    EXPECT_EQ(std::get<NameState>(told[1].what).holders.size(), 1U);
    EXPECT_EQ(told[2].position, Position::after(chunk.last.index));
    EXPECT_EQ(told[2].position.cluster, it.leader.core().raft().configuration().cluster.mark());
}

// A node that never was in a cluster learns by the state which one it is in.
TEST(NodeCoreInstallSnapshot, TellsObserversWhoseStateItIs) {  // S46
    LeftBehind it;
    const auto chunk = it.state();
    HandDrivenNode empty{4, {1, 2, 3}};
    empty.step(PeerUp{it.leader.hello()});
    EXPECT_EQ(empty.core().changes().cluster(), 0U);
    empty.receive(n1, RaftMessage{chunk});
    empty.step(StateInstalled{chunk.last});
    EXPECT_NE(empty.core().changes().cluster(), 0U);
    EXPECT_EQ(empty.core().changes().cluster(), it.leader.core().changes().cluster());
}

// A start that was heard before the state came counts no more.
TEST(NodeCoreInstallSnapshot, ShowsLaterStartsOfPeers) {  // S10
    LeftBehind it;
    const auto early = it.cluster[n2].hello();
    it.leave_behind();
    it.cluster.crash_and_restart(n2);
    it.cluster.connect(n1, n2);
    it.cluster.run_for(3 * election_timeout);  // it opens a session
    const auto chunk = it.state();
    it.node.step(PeerUp{early});
    it.bring(chunk);
    it.node.step(StateInstalled{chunk.last});
    it.node.receive(n2, RaftMessage{PreVoteRequest{Term{1}, 1, {}}});
    const auto told = it.node.take<Superseded>(n2);
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told.front().generation, early.generation);
}

TEST(NodeCoreChanges, HaveTheSamePositionsOnEveryNode) {  // S46, P2
    LeftBehind it;
    it.leader.acquire(1, name);
    it.cluster.settle();
    it.leader.call(ReleaseCall{CallTag{2}, it.hold_of(it.leader, 1)});
    it.cluster.run_for(5 * heartbeat);
    const auto& here = it.leader.core().changes();
    const auto& there = it.node.core().changes();
    ASSERT_EQ(here.size(), 2U);
    ASSERT_EQ(there.size(), 2U);
    for (std::size_t at = 0; at < here.size(); ++at) {
        EXPECT_EQ(here[at].position, there[at].position);
        EXPECT_EQ(here[at].change, there[at].change);
    }
}

// B-S15, B-A9: this node never applies the entry that granted it.
TEST(NodeCoreInstallSnapshot, AGrantThatTheStateSwallowedIsToldAllTheSame) {  // P6
    LeftBehind it;
    it.leader.acquire(1, name);
    it.cluster.settle();
    it.node.acquire(2, name);
    it.cluster.settle();
    ASSERT_EQ(it.leader.core().machine().inspect(name).waiters.size(), 1U);
    it.leave_behind();
    it.leader.call(ReleaseCall{CallTag{3}, it.hold_of(it.leader, 1)});
    it.cluster.settle();
    ASSERT_TRUE(it.leader.core().machine().inspect(name).waiters.empty());
    const auto chunk = it.state();
    ASSERT_GT(chunk.last.index, it.node.core().applied_index());

    it.bring(chunk);
    it.node.step(StateInstalled{chunk.last});
    EXPECT_EQ(it.node.core().applied_index(), chunk.last.index);
    EXPECT_EQ(it.node.core().machine().inspect(name), it.leader.core().machine().inspect(name));
    it.node.complete_writes();
    it.meet_again();
    ASSERT_TRUE(it.node.was_answered<Acquired>(2));
    const auto view = it.leader.core().machine().inspect(name);
    ASSERT_EQ(view.holders.size(), 1U);
    EXPECT_EQ(view.holders[0].operation, it.hold_of(it.node, 2));
}

// B-A8: it is requested again from a state that has it already, and takes effect once.
TEST(NodeCoreInstallSnapshot, WhatWasUnderWayTakesEffectOnce) {  // P6
    LeftBehind it;
    it.node.acquire(1, name);
    it.cluster.deliver();  // the leader has it, and the answer will not arrive
    it.leave_behind();
    it.cluster.settle();
    ASSERT_EQ(it.leader.core().machine().inspect(name).holders.size(), 1U);
    EXPECT_FALSE(it.node.was_answered<Acquired>(1));
    const auto chunk = it.state();
    it.bring(chunk);
    it.node.step(StateInstalled{chunk.last});
    it.node.complete_writes();
    it.meet_again();
    EXPECT_TRUE(it.node.was_answered<Acquired>(1));
    EXPECT_EQ(it.leader.core().machine().inspect(name).holders.size(), 1U);
    EXPECT_TRUE(it.leader.core().machine().inspect(name).waiters.empty());
}

// B-S9, B-A3: a snapshot is checked before it replaces anything.
TEST(NodeCoreInstallSnapshot, RowsThatMakeNoStateChangeNothing) {
    LeftBehind it;
    it.leader.acquire(1, name);
    it.cluster.settle();
    it.leave_behind();
    it.leader.acquire(2, "another");
    it.cluster.settle();
    const auto sound = it.state();
    ASSERT_FALSE(it.node.raft().log().has(sound.last));
    const auto applied = it.node.core().applied_index();
    const auto view = it.node.core().machine().inspect(name);
    auto one_more = sound;
    one_more.rows.push_back(Row{"nonsense", "value"});
    auto one_less = sound;
    one_less.rows.erase(one_less.rows.begin());
    auto altered = sound;
    altered.rows.back().value->push_back('x');
    for (const auto& chunk : {summed(one_more), summed(one_less), summed(altered)}) {
        it.bring(chunk);
        it.node.timer();
        EXPECT_TRUE(it.node.newest<SnapshotReply>(n1).refused);
        EXPECT_FALSE(it.node.raft().is_installing());
        EXPECT_EQ(it.node.core().applied_index(), applied);
        EXPECT_EQ(it.node.core().machine().inspect(name), view);
    }
    it.bring(sound);
    EXPECT_TRUE(it.node.raft().is_installing());
}

}  // namespace
}  // namespace mortise::core::test
