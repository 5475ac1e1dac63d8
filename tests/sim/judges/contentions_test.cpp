// The judge of contention notifications (S24).
#include "tests/sim/judges/contentions.hpp"

#include "tests/sim/base/expect_violation.hpp"
#include "tests/sim/judges/lock_history_by_hand.hpp"

namespace mortise::sim::test {
namespace {

// Node a has the name and wants notifications.
struct ContentionsTest : LockHistoryTest {
    void SetUp() override {
        acquire_and_tell(a, of_a, 1);
        contentions.watched(a, its, {"name"});
    }
    void another_waits() { apply({acquire(of_b, 1)}); }
    void after_step() { contentions.after_step(a, machine); }
    void tell(std::size_t waiters, std::string reason = {}) {
        contentions.told(a, {its, core::LockMode::exclusive, waiters, std::move(reason)});
    }
    void ask(const std::string& reason) {
        contentions.asking(reason);
        contentions.applied(a, {operation(of_b, 5), "name", {its}, reason});
    }

    Contentions contentions{violations, tally};
    core::OperationId its = operation(of_a, 1);
};

TEST_F(ContentionsTest, AreContentWhenTheHolderIsTold) {
    after_step();
    another_waits();
    tell(1);
    ask("please");
    tell(1, "please");
    after_step();
    EXPECT_FALSE(violations.first()) << violations.first()->what;
}

TEST_F(ContentionsTest, NobodyWaitsForAHolderWhoWasNotTold) {
    another_waits();
    after_step();
    EXPECT_VIOLATION("keeps somebody waiting, and was not told");
}

// What is left of it waits to be swept, and no holder is told of that.
TEST_F(ContentionsTest, AWaiterWhoseSessionHasEndedDoesNotCount) {
    apply({acquire(of_b, 1), core::Request{of_b, core::Seq{2}, core::CloseSession{}}});
    after_step();
    EXPECT_FALSE(violations.first()) << violations.first()->what;
}

TEST_F(ContentionsTest, AHolderIsNotifiedOfARequestToRelease) {
    ask("please");
    after_step();
    EXPECT_VIOLATION("was asked for, and did not hear of it");
}

TEST_F(ContentionsTest, NobodyHearsWhatNobodySaid) {
    tell(0, "please");
    EXPECT_VIOLATION("is asked for by nobody: please");
}

TEST_F(ContentionsTest, NobodyIsToldThatNobodyWaits) {
    tell(0);
    EXPECT_VIOLATION("is told that nobody waits for it");
}

TEST_F(ContentionsTest, AFormerHolderIsNotNotified) {
    contentions.lost(its);
    tell(1);
    EXPECT_VIOLATION("is told that others want what it does not have");
}

TEST_F(ContentionsTest, AReleasedOrDeadHolderNeedsNoNotification) {
    another_waits();
    contentions.released(its);
    tell(1);
    after_step();
    contentions.watched(a, its, {"name"});
    contentions.node_lost(a);
    after_step();
    EXPECT_FALSE(violations.first()) << violations.first()->what;
}

}  // namespace
}  // namespace mortise::sim::test
