// When sessions expire, in a whole cluster (S4).
#include <gtest/gtest.h>

#include "core/codec/command_codec.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core {
namespace {

using namespace test;

constexpr std::uint32_t expiry_ttl_ms = 2'000;
constexpr NodeId owner{77};

class NodeCoreExpiry : public testing::Test {
protected:
    NodeCoreExpiry() {
        cluster.connect_all();
        cluster.run_for(3s);
    }
    void SetUp() override {
        ASSERT_NE(cluster.leader(), nullptr);
        cluster.add_played(owner);
        BatchBuilder batch;
        batch.add(opening_of(owner, expiry_ttl_ms));
        cluster.leader()->receive(owner, forward_of(batch.take()));
        cluster.settle();
        session = cluster.leader()->core().machine().sessions().newest();
    }
    void hand_over() {
        const auto from = cluster.leader()->hello().node;
        const auto to = from == n1 ? n2 : n1;
        cluster[from].step(TransferLeadership{to});
        cluster.settle();
        ASSERT_TRUE(cluster[to].raft().is_leader());
    }
    void renew(std::uint64_t number) {
        cluster.leader()->receive(owner, forward_of({}, Renewal{session, number}));
    }
    [[nodiscard]] bool lives() {
        return cluster.leader()->core().machine().sessions().find(session) != nullptr;
    }

    NodeCluster cluster{1, 2, 3};
    SessionId session;
};

TEST_F(NodeCoreExpiry, ComesSoonAfterTheTtlAndNotBefore) {
    cluster.run_for(1'950ms);
    EXPECT_TRUE(lives());
    cluster.run_for(400ms);
    EXPECT_FALSE(lives());
}

// P8: the voters keep counting.
TEST_F(NodeCoreExpiry, IsNotPutOffByANewLeader) {
    cluster.run_for(1'500ms);
    hand_over();
    cluster.run_for(1'000ms);
    EXPECT_FALSE(lives());
}

TEST_F(NodeCoreExpiry, WaitsForTheRenewalsThatANewLeaderHasNotHeardYet) {
    cluster.run_for(1'950ms);
    hand_over();
    cluster.run_for(250ms);
    ASSERT_TRUE(lives()) << "three heartbeats of grace";
    renew(1);
    cluster.run_for(1'500ms);
    EXPECT_TRUE(lives());
}

// The renewal waits in the leader when the session is evicted, and more follow: none of them
// counts.
TEST_F(NodeCoreExpiry, OfAnEvictedSessionWaitsForNoRenewal) {  // S24, S4
    cluster.leader()->call(WriteCall{CallTag{1}, {}, EvictSession{session, "stuck"}});
    std::uint64_t number = 0;
    while (number < 35) {
        renew(++number);
        cluster.run_for(50ms);
    }
    EXPECT_TRUE(lives()) << "its lease has not ended";
    while (number < 50) {
        renew(++number);
        cluster.run_for(50ms);
    }
    EXPECT_FALSE(lives());
}

// The saved countdown may belong to the renewal before the last one.
TEST(NodeCoreExpiryAfterARestart, GoesByTheTimeOfTheNewestRenewalAlone) {
    LockMachine machine;
    Outcomes outcomes;
    machine.apply(LogIndex{2}, {opening_of(owner, expiry_ttl_ms)}, outcomes);
    const auto session = machine.sessions().newest();
    machine.apply(LogIndex{3}, {Renew{{{session, 1}}}}, outcomes);
    auto state = disk_with(voters({1}), {Term{1}, n1}, {1, 1});
    state.applied = LogIndex{3};
    const SavedCountdowns earlier{{{{session, LogIndex{2}}, 1'900ms}}, {}};
    HandDrivenNode node{node_options(1, {1}),
                        NodeState{std::move(state), std::move(machine), earlier, {}}};
    const auto until = node.now + Nanoseconds{1'500ms};
    while (node.core().deadline() < until) {
        node.timer_when_due();
        node.complete_writes();
    }
    ASSERT_TRUE(node.raft().is_leader());
    EXPECT_NE(node.core().machine().sessions().find(session), nullptr);
}

}  // namespace
}  // namespace mortise::core
