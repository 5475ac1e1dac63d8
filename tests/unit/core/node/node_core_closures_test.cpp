// How long a name stays closed, after a break (S24), an early release (S8) and a loss (S9), in a
// whole cluster. The test plays the holder's node: it says nothing about the hold, and keeps
// renewing.
#include <gtest/gtest.h>

#include "core/codec/command_codec.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core {
namespace {

using namespace test;

constexpr std::uint32_t ttl_ms = 2'000;

constexpr NodeId first{71};
constexpr NodeId second{72};

Acquire asking_for_a() {
    Acquire acquire;
    acquire.names.push_back({"a"});
    return acquire;
}

// Two sessions, of which `holder` acquires the name first.
class ClosedNames : public testing::Test {
protected:
    ClosedNames() {
        cluster.connect_all();
        cluster.run_for(3s);
    }
    void SetUp() override {
        ASSERT_NE(cluster.leader(), nullptr);
        cluster.add_played(first);
        cluster.add_played(second);
        holder = open(first);
        other = open(second);
    }
    SessionId open(NodeId who) {
        put(who, opening_of(who, ttl_ms));
        return cluster.leader()->core().machine().sessions().newest();
    }
    void put(NodeId who, const Command& command) {
        BatchBuilder batch;
        batch.add(command);
        cluster.leader()->receive(who, forward_of(batch.take()));
        cluster.settle();
    }
    [[nodiscard]] NodeId node_of(SessionId session) const {
        return session == holder ? first : second;
    }
    void ask(SessionId session, std::uint64_t seq, RequestBody body) {
        put(node_of(session), Request{session, Seq{seq}, std::move(body)});
    }
    void renew(SessionId session, std::uint64_t newest) {
        cluster.leader()->receive(node_of(session), forward_of({}, Renewal{session, newest}));
    }
    // Both keep renewing.
    void run_for(Nanoseconds time) {
        for (Nanoseconds passed{0}; passed < time; passed += 50ms) {
            if (passed % 500ms == Nanoseconds{0} && cluster.leader() != nullptr) {
                renew(holder, ++number);
                renew(other, number);
            }
            cluster.run_for(50ms);
        }
    }
    void lead_elsewhere() {
        const auto from = cluster.leader()->hello().node;
        const auto to = from == n1 ? n2 : n1;
        cluster[from].step(TransferLeadership{to});
        cluster.settle();
        ASSERT_TRUE(cluster[to].raft().is_leader());
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
    SessionId other;
    std::uint64_t number = 1;
};

// By the clock of the node that is asked.
TEST_F(ClosedNames, HoldersAreToldWithTheTimeThatIsLeftOfTheirLeases) {
    const auto left = [&](NodeId at) {
        auto& node = cluster[at];
        InspectCall call;
        call.tag = CallTag{77 + node.answers.size()};
        call.name = "a";
        call.local = true;
        node.call(call);
        const auto& view = std::get<Viewed>(node.answers.back().result).locks.front();
        const auto found = view.leases_left.find(holder);
        return found == view.leases_left.end() ? Nanoseconds{-1} : found->second;
    };
    ask(holder, 1, asking_for_a());
    renew(holder, 1);
    cluster.run_for(700ms);
    for (const auto at : {n1, n2, n3}) {
        EXPECT_GE(left(at), 1'200ms);
        EXPECT_LE(left(at), 1'450ms);
    }
    cluster.run_for(500ms);
    for (const auto at : {n1, n2, n3}) {
        EXPECT_GE(left(at), 700ms);
        EXPECT_LE(left(at), 950ms);
    }
}

// Its time was over long ago, by all clocks. The followers do not wait for a heartbeat with that.
TEST_F(ClosedNames, AReleaseAfterTheMinHoldClosesNothing) {  // S8
    auto acquire = asking_for_a();
    acquire.terms.min_hold_ms = 30;
    for (std::uint64_t round = 0; round < 8; ++round) {
        ask(holder, 2 * round + 1, acquire);
        cluster.run_for(30ms);
        EXPECT_EQ(cluster.leader()->core().machine().table().closures().of("a").size(), 1U);
        cluster.run_for(30ms);
        // The answers to the release would tell as well, a moment too late for those that wait.
        EXPECT_TRUE(cluster.leader()->core().machine().table().closures().of("a").empty()) << round;
        ask(holder, 2 * round + 2, Release{Seq{2 * round + 1}, false});
        EXPECT_FALSE(is_closed()) << round;
        cluster.run_for(17ms);  // at another time between two heartbeats
    }
}

class NodeCoreClosures : public ClosedNames {
protected:
    void SetUp() override {
        ClosedNames::SetUp();
        ask(holder, 1, asking_for_a());
        ask(other, 1, asking_for_a());
        cluster.run_for(1'000ms);
        renew(holder, 1);  // the last one before the break
        renew(other, 1);
        cluster.run_for(500ms);
        ask(other, 2, BreakLock{"a", FencingToken{1}, "stuck"});
        ASSERT_TRUE(is_closed());
    }
};

TEST_F(NodeCoreClosures, EndWithTheLastRenewalBeforeTheBreak) {
    run_for(1'450ms);
    EXPECT_TRUE(is_closed());
    EXPECT_EQ(holds(), SessionId{});
    run_for(400ms);
    EXPECT_FALSE(is_closed());
    EXPECT_EQ(holds(), other);
    EXPECT_NE(cluster.leader()->core().machine().sessions().find(holder), nullptr);
}

// By the clock of the node that is asked, a voter or not.
TEST_F(NodeCoreClosures, AreToldWithTheTimeThatIsLeft) {
    const auto left = [&](NodeId at) {
        auto& node = cluster[at];
        InspectCall call;
        call.tag = CallTag{77 + node.answers.size()};
        call.name = "a";
        call.local = true;
        node.call(call);
        const auto& view = std::get<Viewed>(node.answers.back().result).locks.front();
        EXPECT_EQ(view.closings.size(), 1U);
        EXPECT_EQ(view.closings.front().kind, Closure::Kind::broken);
        return view.closings.front().left.value_or(Nanoseconds{-1});
    };
    run_for(500ms);
    for (const auto at : {n1, n2, n3}) {
        EXPECT_GE(left(at), 900ms);
        EXPECT_LE(left(at), 1'100ms);
    }
}

TEST_F(NodeCoreClosures, AreNotPutOffByANewLeader) {
    run_for(1'000ms);
    lead_elsewhere();
    run_for(450ms);
    EXPECT_TRUE(is_closed());
    run_for(600ms);
    EXPECT_EQ(holds(), other);
}

TEST_F(NodeCoreClosures, AreNotEndedByALeaderThatIsAlone) {  // P3
    const auto alone = cluster.leader()->hello().node;
    for (const auto peer : {n1, n2, n3}) {
        if (peer != alone) cluster.disconnect(alone, peer);
    }
    cluster.run_for(5s);
    EXPECT_TRUE(cluster[alone].core().machine().inspect("a").is_closed);
}

// Two seconds from the grant, or from the loss, however long ago the last renewal was.
class NodeCoreClosuresOfTerms : public ClosedNames,
                                public testing::WithParamInterface<Closure::Kind> {
protected:
    void SetUp() override {
        ClosedNames::SetUp();
        const bool delays = GetParam() == Closure::Kind::lock_delay;
        auto acquire = asking_for_a();
        if (!delays) acquire.terms.min_hold_ms = 2'000;
        if (delays) acquire.terms.lock_delay_ms = 2'000;
        cluster.run_for(1'000ms);
        ask(holder, 1, acquire);
        ask(other, 1, asking_for_a());
        ask(holder, 2, Release{Seq{1}, delays});
        ASSERT_TRUE(is_closed());
    }
};

TEST_P(NodeCoreClosuresOfTerms, LastAsLongUnderANewLeader) {
    run_for(1'000ms);
    lead_elsewhere();
    run_for(900ms);
    EXPECT_TRUE(is_closed());
    run_for(700ms);
    EXPECT_FALSE(is_closed());
    EXPECT_EQ(holds(), other);
}

TEST_P(NodeCoreClosuresOfTerms, LastAsLongWhenTheLeaderDies) {
    run_for(1'000ms);
    cluster.crash_and_restart(cluster.leader()->hello().node);
    cluster.connect_all();
    run_for(900ms);
    for (auto& [id, node] : cluster)
        EXPECT_EQ(node.core().machine().inspect("a").holders.size(), 0U);
    run_for(3'000ms);
    ASSERT_NE(cluster.leader(), nullptr);
    EXPECT_EQ(holds(), other);
}

INSTANTIATE_TEST_SUITE_P(Kinds, NodeCoreClosuresOfTerms,
                         testing::Values(Closure::Kind::min_hold, Closure::Kind::lock_delay));

// The only voter, at its start: the session holds the name, or has lost it, and the quorum timer
// has just begun.
LockMachine machine_with(Closure::Kind kind) {
    const bool delays = kind == Closure::Kind::lock_delay;
    auto acquire = asking_for_a();
    if (kind == Closure::Kind::min_hold) acquire.terms.min_hold_ms = ttl_ms;
    if (delays) acquire.terms.lock_delay_ms = ttl_ms;
    RequestBody leaving = Release{Seq{1}, delays};
    if (kind == Closure::Kind::broken) leaving = BreakLock{"a", FencingToken{1}, {}};
    LockMachine machine;
    Outcomes outcomes;
    machine.apply(LogIndex{2}, {opening_of(first, ttl_ms)}, outcomes);
    const auto session = machine.sessions().newest();
    machine.apply(LogIndex{3},
                  {Request{session, Seq{1}, acquire}, Request{session, Seq{2}, leaving}}, outcomes);
    machine.apply(LogIndex{4}, {Renew{{{session, 1}}}}, outcomes);
    return machine;
}

class NodeCoreClosuresAfterARestart : public testing::TestWithParam<Closure::Kind> {
protected:
    // Whether it is closed that much later.
    static bool is_closed_after(HandDrivenNode& node, Nanoseconds time) {
        const auto until = start + time;
        while (node.core().deadline() < until) {
            node.timer_when_due();
            node.complete_writes();
        }
        EXPECT_TRUE(node.raft().is_leader());
        return node.core().machine().inspect("a").is_closed;
    }
};

// The time that a voter counted survives its process, and is not the whole time.
TEST_P(NodeCoreClosuresAfterARestart, GoOnWithTheTimeThatWasSaved) {
    for (const bool is_saved : {true, false}) {
        auto machine = machine_with(GetParam());
        const auto session = machine.sessions().newest();
        const auto closure = machine.table().closures().of("a").front().id;
        auto state = disk_with(voters({1}), {Term{1}, n1}, {1, 1, 1});
        state.applied = LogIndex{4};
        SavedCountdowns saved{{{{session, LogIndex{4}}, 0ms}}, {}};
        if (is_saved) saved.closures.push_back({closure, 300ms});
        HandDrivenNode node{node_options(1, {1}),
                            NodeState{std::move(state), std::move(machine), std::move(saved), {}}};
        EXPECT_TRUE(is_closed_after(node, 1'690ms));
        EXPECT_EQ(is_closed_after(node, 1'990ms), !is_saved);
    }
}

INSTANTIATE_TEST_SUITE_P(Kinds, NodeCoreClosuresAfterARestart,
                         testing::Values(Closure::Kind::broken, Closure::Kind::min_hold,
                                         Closure::Kind::lock_delay));

}  // namespace
}  // namespace mortise::core
