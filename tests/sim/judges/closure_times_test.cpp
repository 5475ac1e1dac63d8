// The judge of quorum timers.
#include "tests/sim/judges/closure_times.hpp"

#include "tests/sim/base/expect_violation.hpp"
#include "tests/sim/judges/lock_history_by_hand.hpp"

namespace mortise::sim::test {
namespace {

// A session acquires the name with a min_hold of 100 ms, and with a lock_delay of 50 ms.
struct ClosureTimesTest : LockHistoryTest {
    void SetUp() override {
        auto taking = acquire(of_a, 1);
        std::get<core::Acquire>(taking.body).terms = {0, 100, 50};
        at(0, {taking});
    }
    void at(SimTime ms, const std::vector<core::Command>& commands) {
        const auto applied = entry(commands);
        history.applied(a, applied);
        times.applied(a, applied, ms * sim_millisecond);
        times.applied(b, applied, (ms + 30) * sim_millisecond);  // it applies this late
    }
    [[nodiscard]] core::ClosureId closure() const {
        return machine.table().closures().of("name").back().id;
    }

    bool too_fast = false;
    ClosureTimes times{violations,
                       [this](core::OperationId hold) { return history.book().terms_of(hold); },
                       [this] { return too_fast; }};
};

TEST_F(ClosureTimesTest, AreAsLongAsWasAskedFor) {
    at(100, {core::EndClosure{closure()}});
    at(200, {core::Request{of_a, core::Seq{2}, core::Release{core::Seq{1}, true}}});
    at(250, {core::EndClosure{closure()}});
    EXPECT_FALSE(violations.first()) << violations.first()->what;
}

TEST_F(ClosureTimesTest, AMinHoldIsNotShorter) {
    at(99, {core::EndClosure{closure()}});
    EXPECT_VIOLATION("is over too early, by 1 ms");
}

TEST_F(ClosureTimesTest, ALockDelayIsNotShorterAndBeginsWithTheLoss) {
    at(200, {core::Request{of_a, core::Seq{2}, core::Release{core::Seq{1}, true}}});
    at(220, {core::EndClosure{closure()}});
    EXPECT_VIOLATION("is over too early, by 30 ms");
}

TEST_F(ClosureTimesTest, NothingIsPromisedWhenAMajoritysClocksAreFast) {
    too_fast = true;
    at(50, {core::EndClosure{closure()}});
    EXPECT_FALSE(violations.first()) << violations.first()->what;
}

TEST_F(ClosureTimesTest, AnEraIsAsLongAsTheLongestLease) {
    const auto begun = era();
    times.applied(a, begun, 10 * sim_millisecond);
    history.applied(a, begun);
    at(1'009, {core::EndClosure{machine.eras().closing->id}});
    EXPECT_VIOLATION("is over too early, by 1 ms");
}

// A break reopens the name.
TEST_F(ClosureTimesTest, MayEndWithWhatTheyAreAbout) {
    at(10, {core::Request{of_b, core::Seq{1},
                          core::BreakLock{"name", token_of(operation(of_a, 1)), "why", true}}});
    EXPECT_FALSE(violations.first()) << violations.first()->what;
}

}  // namespace
}  // namespace mortise::sim::test
