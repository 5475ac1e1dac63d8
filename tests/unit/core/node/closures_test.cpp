// How long a name stays closed after a break, seen from a whole cluster (S24). The holder is a
// program outside whose node says nothing of it, and renews on.
#include <gtest/gtest.h>

#include "core/codec/command_codec.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core {
namespace {

using namespace test;

constexpr std::uint32_t ttl_ms = 2'000;

OpenSession opening(std::uint64_t who) {
    return {who, NodeId{70 + who}, Incarnation{90 + who}, BootEpoch{1}, ttl_ms, 0, false};
}

Acquire asking_for_a() {
    Acquire acquire;
    acquire.name = "a";
    return acquire;
}

class Closures : public testing::Test {
protected:
    Closures() {
        cluster.connect_all();
        cluster.run_for(3s);
    }
    void SetUp() override {
        ASSERT_NE(cluster.leader(), nullptr);
        holder = open(1);
        breaker = open(2);
        ask(holder, 1, asking_for_a());
        ask(breaker, 1, asking_for_a());
        cluster.run_for(1'000ms);
        renew(holder, 1);  // the last one before the break
        renew(breaker, 1);
        cluster.run_for(500ms);
        ask(breaker, 2, BreakLock{"a", FencingToken{1}, "stuck"});
        ASSERT_TRUE(is_closed());
    }
    SessionId open(std::uint64_t who) {
        put(opening(who));
        return cluster.leader()->core().machine().sessions().newest();
    }
    void put(const Command& command) {
        BatchBuilder batch;
        batch.add(command);
        cluster.leader()->step(ClientForward{{batch.take(), {}, {}}});
        cluster.settle();
    }
    void ask(SessionId session, std::uint64_t seq, RequestBody body) {
        put(Request{session, Seq{seq}, {}, std::move(body)});
    }
    void renew(SessionId session, std::uint64_t newest) {
        cluster.leader()->step(ClientForward{{{}, {}, Renewal{session, newest}}});
    }
    // Both renew on.
    void run_for(Nanoseconds time) {
        for (Nanoseconds passed{0}; passed < time; passed += 50ms) {
            if (passed % 500ms == Nanoseconds{0} && cluster.leader() != nullptr) {
                renew(holder, ++number);
                renew(breaker, number);
            }
            cluster.run_for(50ms);
        }
    }
    [[nodiscard]] bool is_closed() {
        return cluster.leader()->core().machine().inspect("a").is_closed;
    }
    [[nodiscard]] SessionId holds() {
        const auto view = cluster.leader()->core().machine().inspect("a");
        return view.holders.empty() ? SessionId{} : view.holders.front().operation.session;
    }

    NodeCluster cluster{1, 2, 3};
    SessionId holder;
    SessionId breaker;
    std::uint64_t number = 1;
};

TEST_F(Closures, EndWithTheLastRenewalBeforeTheBreak) {
    run_for(1'450ms);
    EXPECT_TRUE(is_closed());
    EXPECT_EQ(holds(), SessionId{});
    run_for(400ms);
    EXPECT_FALSE(is_closed());
    EXPECT_EQ(holds(), breaker);
    EXPECT_NE(cluster.leader()->core().machine().sessions().find(holder), nullptr);
}

TEST_F(Closures, AreNotPutOffByANewLeader) {
    run_for(1'000ms);
    const auto from = cluster.leader()->hello().node;
    const auto to = from == n1 ? n2 : n1;
    cluster[from].step(TransferLeadership{to});
    cluster.settle();
    ASSERT_TRUE(cluster[to].raft().is_leader());
    run_for(450ms);
    EXPECT_TRUE(is_closed());
    run_for(600ms);
    EXPECT_EQ(holds(), breaker);
}

TEST_F(Closures, AreNotEndedByALeaderThatIsAlone) {
    const auto alone = cluster.leader()->hello().node;
    for (const auto other : {n1, n2, n3}) {
        if (other != alone) cluster.disconnect(alone, other);
    }
    cluster.run_for(5s);
    EXPECT_TRUE(cluster[alone].core().machine().inspect("a").is_closed);
}

// What a voter counted is not lost with its process.
TEST(ClosuresAfterARestart, GoOnWithTheTimeThatWasSaved) {
    for (const bool is_saved : {true, false}) {
        LockMachine machine;
        Outcomes outcomes;
        machine.apply(LogIndex{2}, {opening(1)}, outcomes);
        const auto session = machine.sessions().newest();
        machine.apply(LogIndex{3},
                      {Request{session, Seq{1}, {}, asking_for_a()},
                       Request{session, Seq{2}, {}, BreakLock{"a", FencingToken{1}, {}}}},
                      outcomes);
        machine.apply(LogIndex{4}, {Renew{{{session, 1}}}}, outcomes);
        auto state = disk_with(voters({1}), {Term{1}, n1}, {1, 1, 1});
        state.applied = LogIndex{4};
        std::vector<SavedCountdown> saved{{session, LogIndex{4}, 100ms}};
        if (is_saved) saved.push_back({{}, {}, 1'000ms, ClosureId{1}});
        HandDrivenNode node{node_options(1, {1}),
                            NodeState{std::move(state), std::move(machine), std::move(saved), {}}};
        const auto until = node.now + Nanoseconds{1'700ms};
        while (node.core().deadline() < until) {
            node.timer_when_due();
            node.complete_writes();
        }
        ASSERT_TRUE(node.raft().is_leader());
        EXPECT_EQ(node.core().machine().inspect("a").is_closed, !is_saved);
    }
}

}  // namespace
}  // namespace mortise::core
