// The judges of wait cycles (S33).
#include "tests/sim/judges/wait_cycles.hpp"

#include "tests/sim/base/expect_violation.hpp"
#include "tests/sim/judges/lock_history_by_hand.hpp"

namespace mortise::sim::test {
namespace {

core::LockerTag locker(std::uint64_t number) {
    return {number, "locker " + std::to_string(number)};
}

// The holder and the waiters of a name, each with a locker of its own session.
struct StandingCycle : testing::Test {
    using Seq = std::uint64_t;
    static core::LockView::Waiting waiting(core::SessionId session, Seq seq,
                                           core::LockMode mode = core::LockMode::exclusive) {
        core::LockView::Waiting one;
        one.operation = operation(session, seq);
        one.mode = mode;
        one.locker = locker(1);
        return one;
    }
    core::LockView& lock(const std::string& name, core::SessionId holder, Seq seq) {
        core::LockView view;
        view.name = name;
        core::Grant grant;
        grant.operation = operation(holder, seq);
        grant.locker = locker(1);
        view.holders.push_back(grant);
        locks.push_back(view);
        return locks.back();
    }
    void take_in_opposite_order() {
        lock("x", of_a, 1).waiters = {waiting(of_b, 2)};
        lock("y", of_b, 1).waiters = {waiting(of_a, 2)};
    }
    [[nodiscard]] std::string found() const {
        return standing_cycle(locks, [this](core::OperationId one) { return any.contains(one); });
    }

    std::vector<core::LockView> locks;
    std::set<core::OperationId> any;
};

TEST_F(StandingCycle, IsOfLockersThatHoldWhatTheNextOneWants) {
    take_in_opposite_order();
    EXPECT_VIOLATION("locker 1 of session 1 waits for itself");
}

TEST_F(StandingCycle, IsOfOneThatWantsWhatItHas) {
    lock("x", of_a, 1).waiters = {waiting(of_a, 2)};
    EXPECT_VIOLATION("locker 1 of session 1 waits for itself");
}

TEST_F(StandingCycle, IsNoneInOneOrder) {
    lock("x", of_a, 1).waiters = {waiting(of_b, 2)};
    lock("y", of_a, 3);
    EXPECT_EQ(found(), "");
}

TEST_F(StandingCycle, IsNoneOfThoseWithoutLockers) {
    take_in_opposite_order();
    locks.front().waiters.front().locker = {};
    EXPECT_EQ(found(), "");
}

TEST_F(StandingCycle, IsNoneAmongReaders) {
    take_in_opposite_order();
    locks.front().holders.front().mode = core::LockMode::shared;
    locks.front().waiters.front().mode = core::LockMode::shared;
    EXPECT_EQ(found(), "");
}

TEST_F(StandingCycle, IsNoneWhereAnotherNameDoesAsWell) {
    take_in_opposite_order();
    any.insert(operation(of_b, 2));
    EXPECT_EQ(found(), "");
}

TEST_F(StandingCycle, IsNotTheHoldThatIsUpgraded) {
    auto& view = lock("x", of_a, 1);
    view.holders.front().mode = core::LockMode::update;
    view.waiters = {waiting(of_a, 2)};
    view.waiters.front().upgrades = core::Seq{1};
    EXPECT_EQ(found(), "");
}

// Lockers of both nodes acquire two names in opposite order.
struct DeadlocksTest : LockHistoryTest {
    static core::Request take(core::SessionId session, std::uint64_t seq, const char* name) {
        auto request = acquire(session, seq);
        auto& body = std::get<core::Acquire>(request.body);
        body.names.front().name = name;
        body.locker = locker(1);
        return request;
    }
    core::Answer& refused(core::Applied& applied) { return granted(applied).answer; }
    core::Applied complete_the_cycle() {
        apply({take(of_a, 1, "x"), take(of_b, 1, "y"), take(of_a, 2, "y")});
        return entry({take(of_b, 2, "x")});
    }
    void tell(core::NodeId node, std::vector<core::CycleStep> cycle) {
        history.answered(node, {core::CallTag{1}, core::Deadlocked{std::move(cycle)}}, last);
    }
};

TEST_F(DeadlocksTest, AreContentWithAnHonestHistory) {
    ask(b, 1);
    auto applied = complete_the_cycle();
    ASSERT_EQ(refused(applied).cycle.size(), 2U);
    history.applied(a, applied);
    tell(b, refused(applied).cycle);
    EXPECT_EQ(found(), "");
    EXPECT_EQ(tally.probes().at("deadlock refused"), 1U);
}

TEST_F(DeadlocksTest, SeeACycleThatIsNone) {
    apply({take(of_a, 1, "x")});
    auto applied = entry({take(of_b, 1, "x")});
    applied.outcomes = {core::Answered{operation(of_b, 1), {core::AnswerKind::deadlock, {}, {}}}};
    history.applied(a, applied);
    EXPECT_VIOLATION("the specification differs at index 3");
}

TEST_F(DeadlocksTest, SeeACycleThatNobodyIsRefusedFor) {
    auto applied = complete_the_cycle();
    applied.outcomes = {core::Queued{operation(of_b, 2)}};
    history.applied(a, applied);
    EXPECT_VIOLATION("the specification differs at index 3");
}

TEST_F(DeadlocksTest, SeeAnotherCycleAtAnotherNode) {
    auto applied = complete_the_cycle();
    history.applied(a, applied);
    refused(applied).cycle.pop_back();
    history.applied(b, applied);
    EXPECT_VIOLATION("other outcomes at index 3");
}

TEST_F(DeadlocksTest, SeeAReportThatTheLogDoesNotHave) {
    ask(b, 1);
    auto applied = complete_the_cycle();
    history.applied(a, applied);
    refused(applied).cycle.pop_back();
    tell(b, refused(applied).cycle);
    EXPECT_VIOLATION("a wait cycle that the log does not have");
}

TEST_F(DeadlocksTest, SeeAReportFromBeforeTheRequest) {
    auto applied = complete_the_cycle();
    history.applied(a, applied);
    inspect(a, 8);
    history.answered(a, {core::CallTag{8}, core::Viewed{}}, last);
    ask(b, 1);
    tell(b, refused(applied).cycle);
    EXPECT_VIOLATION("a wait cycle that the log does not have");
}

TEST_F(DeadlocksTest, SeeAReportForAnotherNode) {
    ask(a, 1);
    auto applied = complete_the_cycle();
    history.applied(a, applied);
    tell(a, refused(applied).cycle);
    EXPECT_VIOLATION("a wait cycle that the log does not have");
}

}  // namespace
}  // namespace mortise::sim::test
