// A leader whose state on disk does not progress: it transfers leadership to a node whose disk
// works (P7, P10).
#include <gtest/gtest.h>

#include "core/codec/command_codec.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

constexpr std::size_t lag_max = 8'000;

Bytes one(const Command& command) {
    BatchBuilder batch;
    batch.add(command);
    return batch.take();
}

// Only their sizes matter: the acquire finds the name busy, and the release ends nothing.
Bytes acquire(const HandDrivenNode& leader, SessionId by) {
    const Acquire request{{{std::string(400, 'n'), LockMode::exclusive}}, false, {}, false, {}};
    return one(next_request(leader, by, request));
}
Bytes ending(const HandDrivenNode& leader, SessionId by) {
    return one(next_request(leader, by, Release{Seq{1}}));
}

// The state on disk of the nodes in `standing` does not progress; that of the others is fast.
struct NodeCoreLaggingLeader : testing::Test {
    void SetUp() override {
        cluster.connect_all();
        run_for(3 * election_timeout);
        ASSERT_NE(cluster.leader(), nullptr);
        first = id_of_leader();
        cluster.add_played(asker);
        session = played_session(cluster[first], asker, [&] { cluster.settle(); });
        flush();
    }
    [[nodiscard]] NodeId id_of_leader() {
        for (auto& [id, node] : cluster) {
            if (node.raft().is_leader()) return id;
        }
        return {};
    }
    void flush() {
        for (auto& [id, node] : cluster) {
            if (standing.contains(id) || node.deltas.empty()) continue;
            node.step(StateDurable{node.deltas.back().applied.index});
            node.deltas.clear();
        }
    }
    void run_for(Nanoseconds time) {
        for (Nanoseconds passed{0}; passed < time; passed += 10ms) {
            cluster.run_for(10ms);
            flush();
        }
    }
    void ask(NodeId node, Forward forward) {
        cluster[node].receive(asker, std::move(forward));
        cluster.settle();
    }
    // Until its leader rejects acquires, or everything.
    void fill(bool wholly) {
        standing.insert(first);
        const auto& core = cluster[first].core();
        while (core.state_lag_bytes() <= lag_max)
            ask(first, forward_of(acquire(cluster[first], session)));
        for (int i = 0; wholly && i < 500; ++i)
            ask(first, forward_of(ending(cluster[first], session)));
        ASSERT_GT(core.state_lag_bytes(), wholly ? lag_max + lag_max / 4 : lag_max);
        ASSERT_TRUE(core.raft().is_leader());
    }
    [[nodiscard]] bool takes_an_acquire() {
        const auto leader = id_of_leader();
        const auto last = cluster[leader].raft().commit_index();
        ask(leader, forward_of(acquire(cluster[leader], session)));
        return cluster[leader].raft().commit_index() > last;
    }

    NodeCluster cluster{{1, 2, 3}, [](NodeOptions& options) {
                            options.state_lag_bytes_max = lag_max;
                            options.state_interval = 10ms;
                        }};
    static constexpr NodeId asker{77};
    std::set<NodeId> standing;
    NodeId first;
    SessionId session;
};

TEST_F(NodeCoreLaggingLeader, ThatTakesNothingAnyMoreHandsOver) {
    fill(true);
    run_for(election_timeout * 3 / 2);
    EXPECT_NE(id_of_leader(), NodeId{});
    EXPECT_NE(id_of_leader(), first);
    EXPECT_TRUE(takes_an_acquire());
}

TEST_F(NodeCoreLaggingLeader, ThatTakesNoAcquiresHandsOver) {
    fill(false);
    run_for(election_timeout * 3 / 2);
    EXPECT_NE(id_of_leader(), first);
    EXPECT_TRUE(takes_an_acquire());
}

// Under load it may lag for a moment.
TEST_F(NodeCoreLaggingLeader, ThatCatchesUpInTimeLeadsOn) {
    fill(false);
    run_for(election_timeout / 2);
    standing.clear();
    run_for(election_timeout / 2);
    standing.insert(first);
    fill(false);
    run_for(election_timeout * 3 / 4);
    EXPECT_EQ(id_of_leader(), first);
}

// Node 1 leads and has no capacity; the test sends the messages of the others.
struct NodeCoreLeadershipTransfer : testing::Test {
    void SetUp() override {
        for (const auto peer : {n2, n3})
            node.step(PeerUp{HandDrivenNode{node_options(peer.raw(), {1, 2, 3}), disk}.hello()});
        node.timer_when_due();
        node.receive(
            n2, RaftMessage{PreVoteReply{Term{1}, node.newest<PreVoteRequest>(n2).round, true}});
        node.complete_writes();
        node.receive(n2, RaftMessage{VoteReply{Term{2}, node.newest<VoteRequest>(n2).round, true}});
        node.complete_writes();
        ASSERT_TRUE(node.raft().is_leader());
        // Node 2 first reports where its log agrees, and then receives what follows.
        session = played_session(node, n2, [&] {
            for (int i = 0; i < 2; ++i) {
                node.complete_writes();
                hear_of({n2});
            }
        });
        fill(n2);
    }
    void fill(NodeId helps) {
        while (node.core().state_lag_bytes() <= lag_max) {
            node.receive(n2, forward_of(acquire(node, session)));
            node.complete_writes();
            hear_of({helps});
        }
    }
    void flush() {
        node.now = node.now + options().state_interval;
        node.timer();
        node.step(StateDurable{node.core().applied_index()});
        ASSERT_LT(node.core().state_lag_bytes(), lag_max);
    }
    void hear_of(std::initializer_list<NodeId> peers) {
        for (const auto peer : peers)
            node.receive(peer, RaftMessage{accepts(2, node.raft().progress_of(peer)->named.raw())});
    }
    void pass(Nanoseconds time, std::initializer_list<NodeId> answering) {
        for (Nanoseconds passed{0}; passed < time; passed += heartbeat) {
            node.now = node.now + heartbeat;
            node.timer();
            node.complete_writes();
            hear_of(answering);
        }
    }
    [[nodiscard]] bool is_asked(NodeId peer) { return node.sent_to<TimeoutNow>(peer) != 0; }

    static NodeOptions options() {
        auto options = node_options(1, {1, 2, 3});
        options.state_lag_bytes_max = lag_max;
        return options;
    }
    RaftState disk = disk_with(voters({1, 2, 3}), {Term{1}, {}}, {});
    HandDrivenNode node{options(), disk};
    SessionId session;
};

TEST_F(NodeCoreLeadershipTransfer, GoesOnToTheNextWhenOneDoesNotTakeOver) {
    pass(election_timeout * 3 / 2, {n2, n3});
    EXPECT_TRUE(is_asked(n2));
    EXPECT_FALSE(is_asked(n3));
    pass(2 * election_timeout, {n2, n3});
    EXPECT_TRUE(is_asked(n3));
    node.sent.clear();
    pass(2 * election_timeout, {n2, n3});
    EXPECT_TRUE(is_asked(n2));
    EXPECT_FALSE(is_asked(n3));
}

// In between it continues to lead as well as it can.
TEST_F(NodeCoreLeadershipTransfer, ProposesBetweenTwoAttempts) {
    pass(election_timeout * 3 / 2, {n2, n3});
    ASSERT_TRUE(node.raft().is_transferring());
    pass(election_timeout * 3 / 4, {n2, n3});
    ASSERT_FALSE(node.raft().is_transferring());
    const auto last = node.raft().log().last().index;
    node.receive(n2, forward_of(ending(node, session)));
    EXPECT_EQ(node.raft().log().last().index, last.next());
}

TEST_F(NodeCoreLeadershipTransfer, PassesOverWhoDoesNotAnswer) {
    flush();
    pass(2 * heartbeat, {n3});
    fill(n3);
    pass(3 * election_timeout, {n3});
    EXPECT_FALSE(is_asked(n2));
    EXPECT_TRUE(is_asked(n3));
}

// There is no better leader: it continues to lead, and does not wake up more often for that.
TEST_F(NodeCoreLeadershipTransfer, WaitsUntilSomebodyHasCaughtUp) {
    for (int i = 0; i < 20; ++i) {
        node.receive(n2, forward_of(ending(node, session)));
        node.complete_writes();
    }
    for (int i = 0; i < 30; ++i) {
        node.receive(n3, RaftMessage{accepts(2, 2)});
        pass(heartbeat, {});
        EXPECT_GT(node.core().deadline(), node.now);
    }
    EXPECT_TRUE(node.raft().is_leader());
    EXPECT_FALSE(node.raft().is_transferring());
    pass(2 * heartbeat, {n3});
    EXPECT_TRUE(is_asked(n3));
}

}  // namespace
}  // namespace mortise::core::test
