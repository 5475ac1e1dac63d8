// The judges of the second half of a run: a core that makes no progress, a cluster that does not
// become quiet.
#include "tests/sim/run/liveness.hpp"

#include <gtest/gtest.h>

#include "tests/sim/base/expect_violation.hpp"

namespace mortise::sim {
namespace {

// Makes no calls, and is owed what a test says.
class NoWorkload final : public Workload {
public:
    void start() override {}
    void stop() override {}
    void node_started(core::NodeId) override {}
    void node_lost(core::NodeId) override {}
    void lost(core::NodeId, const core::HoldLost&) override {}
    void suspended(core::NodeId, core::OperationId) override {}
    void contended(core::NodeId, const core::Contended&) override {}
    void lease_changed(core::NodeId, const core::LeaseChanged&) override {}
    void answered(core::NodeId, const core::CallAnswer&) override {}
    void applied(core::NodeId, const core::Applied&) override {}
    void notified(core::NodeId, core::ClientId, core::ClientNotice&&) override {}
    void hung_up(core::NodeId, core::ClientId) override {}
    void stepped(core::NodeId, core::Instant, core::Instant) override {}
    void struck(core::NodeId, Fault) override {}
    void wakes(core::NodeId) override {}
    [[nodiscard]] core::NodeId holder(core::NodeId) const override { return {}; }
    void contest(core::NodeId, SimTime) override {}
    void begin_liveness(const std::vector<core::NodeId>&) override {}
    [[nodiscard]] std::string still_owed() const override { return owed; }
    void end() override {}

    std::string owed;
};

Swarm calm() {
    Swarm swarm;
    swarm.election_timeout = std::chrono::seconds{1};
    swarm.heartbeat = std::chrono::milliseconds{100};
    swarm.flush_pace = sim_second;
    return swarm;
}

// Three nodes without faults.
struct LivenessTest : testing::Test {
    LivenessTest() {
        world.workload = &workload;
        cluster.start_all();
    }
    void run_until_led() {
        while (!cluster.leader().is_set())
            ASSERT_TRUE(world.heap.run_next());
        world.heap.run_until(world.heap.now() + sim_second);
    }
    [[nodiscard]] std::string found() const {
        return world.violations.first() ? world.violations.first()->what : "";
    }

    World world{1, calm()};
    NoWorkload workload;
    Cluster cluster{world};
    Liveness liveness{world, cluster};
};

TEST_F(LivenessTest, NamesWhatIsMissing) {
    ASSERT_TRUE(liveness.begin());
    EXPECT_EQ(liveness.missing(), "no leader");
    run_until_led();
    EXPECT_EQ(liveness.missing(), "");
    workload.owed = "an answer";
    EXPECT_EQ(liveness.missing(), "an answer");
}

TEST_F(LivenessTest, CountsUntilALeaderCommits) {
    ASSERT_TRUE(liveness.begin());
    liveness.look_for_a_leader();
    EXPECT_FALSE(liveness.led_after());
    const auto began = world.heap.now();
    while (!liveness.led_after()) {
        ASSERT_TRUE(world.heap.run_next());
        liveness.look_for_a_leader();
    }
    EXPECT_EQ(*liveness.led_after(), world.heap.now() - began);
    EXPECT_TRUE(cluster.at(cluster.leader()).raft().has_committed_own_term());
    EXPECT_EQ(found(), "");
}

TEST_F(LivenessTest, SeesThatNobodyLeadsInTime) {  // P7
    run_until_led();
    ASSERT_TRUE(liveness.begin());
    for (const auto one : cluster.ids()) {
        for (const auto other : cluster.ids())
            if (one != other) cluster.network().cut(one, other, true);
    }
    world.heap.run_until(world.heap.now() + 10 * sim_second);
    liveness.look_for_a_leader();
    EXPECT_EQ(found(), "");
    world.heap.run_until(world.heap.now() + sim_second);
    liveness.look_for_a_leader();
    EXPECT_VIOLATION("no progress: no leader");
}

TEST_F(LivenessTest, SeesANodeOfTheCoreFallBehind) {
    run_until_led();
    ASSERT_TRUE(liveness.begin());
    const auto leader = cluster.leader();
    const auto behind = leader == core::NodeId{1} ? core::NodeId{2} : core::NodeId{1};
    cluster.network().cut(leader, behind, true);
    cluster.crash(behind);
    EXPECT_EQ(liveness.missing(), "a node of the core is down");
}

TEST_F(LivenessTest, IsContentWithAnIdleCluster) {
    run_until_led();
    ASSERT_TRUE(liveness.begin());
    liveness.begin_idle();
    world.heap.run_until(liveness.idle_until());
    liveness.end_idle();
    EXPECT_EQ(found(), "");
}

TEST_F(LivenessTest, SeesAFloodOfMessages) {
    run_until_led();
    ASSERT_TRUE(liveness.begin());
    liveness.begin_idle();
    const auto leader = cluster.leader();
    for (int i = 0; i < 10'000; ++i)
        cluster.network().send(leader, leader, core::RaftMessage{core::PreVoteReply{}});
    liveness.end_idle();
    EXPECT_VIOLATION("message flood");
}

TEST_F(LivenessTest, SeesALeaderThatChangesForNoReason) {
    run_until_led();
    ASSERT_TRUE(liveness.begin());
    liveness.begin_idle();
    const auto leader = cluster.leader();
    cluster.crash(leader);
    while (!cluster.leader().is_set())
        ASSERT_TRUE(world.heap.run_next());
    cluster.start(leader);
    liveness.end_idle();
    EXPECT_VIOLATION("unrest");
}

}  // namespace
}  // namespace mortise::sim
