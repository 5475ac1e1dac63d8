// For how long something is held, and by whom, as every member says it (decision 0080): the wall
// clocks of these members are far apart.
#include <gtest/gtest.h>

#include "core/locks/machine/machine_loader.hpp"
#include "core/node/cluster_clock.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core::test {
namespace {

constexpr std::uint64_t today = 1'800'000'000'000;

class NodeCoreClock : public ::testing::Test {
protected:
    NodeCoreClock() { set_walls(today, 86'400'000, 2 * today); }
    void set_walls(std::uint64_t first, std::uint64_t second, std::uint64_t third) {
        cluster[n1].wall_ms = first;
        cluster[n2].wall_ms = second;
        cluster[n3].wall_ms = third;
    }
    void meet() {
        cluster.connect_all();
        cluster.run_for(5 * election_timeout);
        ASSERT_NE(cluster.leader(), nullptr);
    }
    void hold(NodeId node, const std::string& name = "a") {
        cluster[node].acquire(++tag, name);
        cluster.run_for(5 * heartbeat);
        ASSERT_TRUE(cluster[node].was_answered<Acquired>(tag));
    }
    LockView view(NodeId at, const std::string& name = "a") {
        InspectCall call;
        call.tag = CallTag{++tag};
        call.name = name;
        call.local = true;
        cluster[at].call(call);
        return std::get<Viewed>(cluster[at].answers.back().result).locks.front();
    }
    // Below zero: unknown.
    Nanoseconds age(NodeId at, const std::string& name = "a") {
        const auto seen = view(at, name);
        if (seen.holders.empty()) return -2s;
        return seen.age_of(seen.holders.front().since).value_or(-1s);
    }
    void expect_age(NodeId at, Nanoseconds expected, const std::string& name = "a") {
        EXPECT_GE(age(at, name), expected) << at.raw();
        EXPECT_LE(age(at, name), expected + 2s) << at.raw();
    }
    [[nodiscard]] const ClockMarks& marks(NodeId at) {
        return cluster[at].core().machine().clock();
    }
    NodeId follower(NodeId other = {}) {
        for (const auto id : {n1, n2, n3})
            if (&cluster[id] != cluster.leader() && id != other) return id;
        return {};
    }
    NodeId leading() {
        for (const auto id : {n1, n2, n3})
            if (&cluster[id] == cluster.leader()) return id;
        return {};
    }

    NodeCluster cluster{{1, 2, 3}, [](NodeOptions& options) {
                            const auto id = options.self.raw();
                            options.origin = {"host" + std::to_string(id), "backup", id, {}};
                        }};
    std::uint64_t tag = 0;
};

TEST_F(NodeCoreClock, EveryMemberTellsTheSameAge) {
    meet();
    hold(n2);
    cluster.run_for(60s);
    hold(n3, "b");
    for (const auto id : {n1, n2, n3}) {
        expect_age(id, 60s);
        expect_age(id, 0s, "b");
    }
    EXPECT_EQ(marks(n1).all(), marks(n2).all());
    EXPECT_EQ(marks(n1).all(), marks(n3).all());
}

TEST_F(NodeCoreClock, AWaiterHasAnAgeAsWell) {
    meet();
    hold(n2);
    cluster.run_for(5s);
    cluster[n3].acquire(++tag, "a");
    cluster.run_for(10s);
    const auto seen = view(n1);
    ASSERT_EQ(seen.waiters.size(), 1U);
    const auto waits = seen.age_of(seen.waiters.front().since).value_or(-1s);
    EXPECT_GE(waits, 10s);
    EXPECT_LE(waits, 12s);
}

// Never an entry of its own, and not more than one a second.
TEST_F(NodeCoreClock, ATimeTravelsWithWhatIsProposedAnyway) {
    meet();
    for (int i = 0; i < 40; ++i) {
        hold(n2, "name" + std::to_string(i));
        cluster.run_for(100ms);
    }
    std::size_t clocks = 0;
    const auto& log = cluster[n1].raft().log();
    for (auto index = log.first_index(); index <= log.last().index; index = index.next()) {
        if (log.at(index).kind != EntryKind::commands) continue;
        const auto commands = decode_batch(log.at(index).payload).value();
        for (std::size_t i = 0; i < commands.size(); ++i) {
            if (!std::holds_alternative<Clock>(commands[i])) continue;
            ++clocks;
            EXPECT_EQ(i, 0U);
            EXPECT_GE(commands.size(), 2U);
        }
    }
    EXPECT_GE(clocks, 10U);
    EXPECT_EQ(clocks, marks(n1).all().size());
}

TEST_F(NodeCoreClock, AnAgeGoesOnUnderAnotherLeader) {
    meet();
    const auto holder = follower();
    hold(holder);
    cluster.run_for(20s);
    const auto former = leading();
    cluster[former].crash_and_restart();
    for (const auto id : {n1, n2, n3})
        if (id != former) cluster.disconnect(id, former);
    cluster.run_for(10s);
    ASSERT_NE(leading(), former);
    hold(leading(), "b");
    cluster.run_for(5s);
    for (const auto id : {n1, n2, n3}) {
        if (id == former) continue;
        expect_age(id, 35s);
        expect_age(id, 5s, "b");
    }
}

// Its wall clock counts until the leader says the time.
TEST_F(NodeCoreClock, AMemberThatStartsAgainTellsTheSameAge) {
    meet();
    hold(leading());
    const auto again = follower();
    cluster.run_for(20s);
    cluster.crash_and_restart(again);
    cluster.connect_all();
    cluster.run_for(15s);
    expect_age(again, 35s);
    expect_age(leading(), 35s);
}

// A node applies again what its saved state lacks.
TEST_F(NodeCoreClock, AMarkFromBeforeTheStartDoesNotTurnTheTimeBack) {
    LockMachine machine;
    const Now start{Instant{1}, Instant{1}, today + 60'000};
    ClusterClock clock{machine, LogIndex{1}, start};
    Outcomes outcomes;
    machine.apply(LogIndex{1}, {Clock{today}, Sweep{}}, outcomes);
    clock.applied(start);
    EXPECT_EQ(clock.age_of(LogIndex{1}, start), 60s);
    machine.apply(LogIndex{2}, {Clock{today + 30'000}, Sweep{}}, outcomes);
    clock.applied(start);  // this one tells the present time
    EXPECT_EQ(clock.age_of(LogIndex{1}, start), 30s);
}

// Nothing but the wall clock spans that.
TEST_F(NodeCoreClock, AnAgeSurvivesTheStartOfAllMembers) {
    set_walls(today, today, today);
    meet();
    hold(n2);
    cluster.run_for(20s);
    for (const auto id : {n1, n2, n3})
        cluster.crash_and_restart(id);
    cluster.pass(4s);
    meet();
    for (const auto id : {n1, n2, n3})
        EXPECT_GE(age(id), 24s) << id.raw();
}

TEST_F(NodeCoreClock, AMemberOfTheVersionBeforeHoldsTimesAndOriginsBack) {  // P12
    cluster.change_version(n3, command_format_oldest);
    meet();
    hold(n2);
    cluster.run_for(5s);
    for (const auto id : {n1, n2, n3}) {
        EXPECT_EQ(age(id), -1s);
        EXPECT_TRUE(view(id).origins.empty());
        EXPECT_TRUE(marks(id).is_empty());
    }
    cluster.change_version(n3, command_format_newest);
    meet();
    cluster.run_for(5s);
    EXPECT_EQ(age(n1), -1s);  // it has no time
    hold(n2, "b");
    for (const auto id : {n1, n2, n3})
        expect_age(id, 0s, "b");
}

TEST_F(NodeCoreClock, ALeaderOfTheVersionBeforeTakesAnOpening) {  // P12
    for (const auto id : {n1, n2})
        cluster.change_version(id, command_format_oldest);
    cluster.connect(n1, n2);
    cluster.run_for(5 * election_timeout);
    cluster.connect(n1, n3);
    cluster.connect(n2, n3);
    cluster.run_for(5 * election_timeout);
    ASSERT_NE(leading(), n3);
    hold(n3);
    hold(leading(), "b");
}

TEST_F(NodeCoreClock, WhoHoldsIsToldWithItsOrigin) {
    meet();
    hold(n2);
    cluster.run_for(3s);
    for (const auto id : {n1, n2, n3}) {
        const auto seen = view(id);
        const auto* origin = seen.origin_of(seen.holders.front().operation.session);
        ASSERT_NE(origin, nullptr);
        EXPECT_EQ(default_label(*origin), "backup@host2:2");
    }
    const auto sessions = cluster[n1].core().machine().views().sessions({}, 10, 100);
    ASSERT_EQ(sessions.size(), 3U);
    for (const auto& session : sessions) {
        EXPECT_EQ(session.origin.host, "host" + std::to_string(session.node.raw()));
        const auto since = cluster[n1].core().clock().age_of(session.opened_at, {start, start});
        EXPECT_TRUE(since.has_value());
    }
}

// The log that made the state may be purged.
TEST_F(NodeCoreClock, AStateWithTimesIsForThoseWhoReadThem) {  // P12
    LockMachine machine;
    Outcomes outcomes;
    machine.apply(LogIndex{1}, {Clock{today}, Sweep{}}, outcomes);
    RaftState state;
    state.hard_state = {Term{1}, {}};
    state.base = log_id(1, 1);
    state.applied = LogIndex{1};
    state.configuration = voters({1});
    // Nobody knows which formats it reads, so it is not its silence that refuses the other one.
    state.configuration.learners = members({2});
    HandDrivenNode node{node_options(1, {1}), NodeState{state, std::move(machine), {}, {}}};
    auto old = node_options(4, {});
    old.command_format = command_format_oldest;
    node.step(PeerUp{HandDrivenNode{old, RaftState{}}.hello()});
    while (!node.raft().is_leader()) {
        node.timer_when_due();
        node.complete_writes();
    }
    node.change(1, {MembershipGoal::Kind::learner, n4, "somewhere"}, 5 * heartbeat);
    for (int i = 0; i < 20; ++i) {
        node.timer_when_due();
        node.complete_writes();
    }
    EXPECT_EQ(node.refusal_of(1), MembershipRefusal::too_old);
}

}  // namespace
}  // namespace mortise::core::test
