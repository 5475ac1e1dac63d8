// The judge of the cached grants of client nodes (S40).
#include "tests/sim/judges/client_recalls.hpp"

#include "tests/sim/base/expect_violation.hpp"
#include "tests/sim/judges/lock_history_by_hand.hpp"

namespace mortise::sim::test {
namespace {

constexpr core::NodeId client{1'001};

// The client has a cached grant of the name.
struct ClientRecallsTest : LockHistoryTest {
    void SetUp() override {
        acquire_and_tell(a, of_a, 1);
        recalls.cached(client, its, "name");
    }
    void another_waits() {
        apply({acquire(of_b, 1)});
        member_steps();
    }
    void member_steps() { recalls.member_stepped(last, machine); }
    void client_steps(bool hears = true) { recalls.client_stepped(client, last, hears); }

    ClientRecalls recalls{violations, tally};
    core::OperationId its = operation(of_a, 1);
};

TEST_F(ClientRecallsTest, AreContentWhenTheClientIsTold) {
    client_steps();
    another_waits();
    recalls.told({its, core::LockMode::exclusive, 1, {}});
    client_steps();
    recalls.took(its, true);
    EXPECT_FALSE(violations.first()) << violations.first()->what;
}

TEST_F(ClientRecallsTest, AClientThatHasReceivedLessNeedNotKnow) {
    another_waits();
    recalls.client_stepped(client, last.previous(), true);
    EXPECT_FALSE(violations.first()) << violations.first()->what;
}

TEST_F(ClientRecallsTest, AClientKnowsWhoWaitsAtItsPosition) {
    another_waits();
    client_steps();
    EXPECT_VIOLATION("keeps somebody waiting, and the client was not told");
}

TEST_F(ClientRecallsTest, WhoHasLeftTheQueueDoesNotCount) {
    another_waits();
    apply({core::Request{of_b, core::Seq{2}, core::Cancel{core::Seq{1}}}});
    member_steps();
    client_steps();
    EXPECT_FALSE(violations.first()) << violations.first()->what;
}

TEST_F(ClientRecallsTest, NothingStaysCachedWithoutAMember) {
    client_steps(false);
    EXPECT_VIOLATION("stays although no member would tell of a recall");
}

TEST_F(ClientRecallsTest, NothingIsTakenWithoutAMember) {
    recalls.took(its, false);
    EXPECT_VIOLATION("is used although no member would tell of a recall");
}

TEST_F(ClientRecallsTest, ARecalledGrantMayBeHandedOnForAMoment) {  // S41
    recalls.told({its, core::LockMode::exclusive, 1, {}});
    recalls.took(its, false);
    client_steps(false);
    EXPECT_FALSE(violations.first()) << violations.first()->what;
}

TEST_F(ClientRecallsTest, WhatGoesBackIsNotJudged) {
    another_waits();
    recalls.ended(its);
    client_steps(false);
    EXPECT_FALSE(violations.first()) << violations.first()->what;
}

}  // namespace
}  // namespace mortise::sim::test
