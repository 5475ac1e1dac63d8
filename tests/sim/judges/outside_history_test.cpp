#include "tests/sim/judges/outside_history.hpp"

#include <gtest/gtest.h>

#include "tests/check/history_check.hpp"
#include "tests/sim/judges/three_nodes.hpp"

namespace mortise::sim {
namespace {

constexpr core::SessionId session_of_a{1};
constexpr core::SessionId session_of_b{2};

struct OutsideHistoryTest : testing::Test {
    // Both clocks show true time, and a lease is ten seconds.
    void granted(core::NodeId node, core::SessionId session, std::uint64_t token) {
        granted(node, {session, core::Seq{token}}, token, core::LockMode::exclusive);
    }
    void granted(core::NodeId node, core::OperationId hold, std::uint64_t token,
                 core::LockMode mode) {
        const auto session = hold.session;
        core::AcquireCall call;
        call.tag = core::CallTag{hold.seq.raw()};
        call.request.names.push_back({"x", mode});
        history.asked(node, call);
        heap.run_until(heap.now() + sim_millisecond);
        history.lease_changed({session, {heap.now() + 10 * sim_second}}, {heap.now()});
        core::Acquired acquired{hold, {{"x", mode, core::FencingToken{token}, {}}}};
        history.answered(node, {call.tag, std::move(acquired)});
        heap.run_until(heap.now() + sim_millisecond);
    }
    // An acquire of a fails with that error, and then b finds the name taken.
    void failed_and_found_busy(core::CallError error) {
        core::AcquireCall call;
        call.tag = core::CallTag{1};
        call.request.names.push_back({"x", core::LockMode::exclusive});
        history.asked(a, call);
        heap.run_until(heap.now() + sim_millisecond);
        history.answered(a, {call.tag, error});
        heap.run_until(heap.now() + sim_millisecond);
        call.request.wait = false;
        history.asked(b, call);
        history.answered(b, {call.tag, core::Busy{}});
    }
    // The end of a's hold is not reported.
    void granted_to_b_after(SimTime time) {
        granted(a, session_of_a, 1);
        heap.run_until(time);
        granted(b, session_of_b, 2);
    }
    [[nodiscard]] bool is_explained() const { return check::check(history.calls()).explained; }

    EventHeap heap;
    OutsideHistory history{heap};
};

TEST_F(OutsideHistoryTest, OneAfterTheOther) {
    granted(a, session_of_a, 1);
    history.releasing(a, {}, {session_of_a, core::Seq{1}});
    granted(b, session_of_b, 2);
    EXPECT_TRUE(is_explained());
}

// Until its Cancel is applied, the request of such a call may be granted.
TEST_F(OutsideHistoryTest, ACallThatTheLeaderDidNotTakeInTimeMayHaveTheNameForAWhile) {
    failed_and_found_busy(core::CallError::resource_exhausted);
    EXPECT_TRUE(is_explained());
}

TEST_F(OutsideHistoryTest, ACallThatTheClusterRefusedHasNothing) {
    failed_and_found_busy(core::CallError::kind_mismatch);
    EXPECT_FALSE(is_explained());
}

TEST_F(OutsideHistoryTest, TwoAtOnce) {
    granted(a, session_of_a, 1);
    granted(b, session_of_b, 2);
    EXPECT_FALSE(is_explained());
}

TEST_F(OutsideHistoryTest, TwoReadersOnOneNodeAreDistinct) {
    granted(a, {session_of_a, core::Seq{1}}, 1, core::LockMode::shared);
    granted(a, {session_of_a, core::Seq{2}}, 1, core::LockMode::shared);
    history.releasing(a, {}, {session_of_a, core::Seq{1}});
    granted(b, session_of_b, 2);
    EXPECT_FALSE(is_explained());
}

TEST_F(OutsideHistoryTest, ADeadHolderCountsUntilItsLeaseEnds) {
    granted(a, session_of_a, 1);
    history.node_lost(a);
    granted(b, session_of_b, 2);
    EXPECT_FALSE(is_explained());
}

TEST_F(OutsideHistoryTest, AHolderWhoseLeaseEndedIsInNobodysWay) {
    granted(a, session_of_a, 1);
    history.node_lost(a);
    heap.run_until(11 * sim_second);
    granted(b, session_of_b, 2);
    EXPECT_TRUE(is_explained());
}

// The machine stays suspended, so it never reports the loss of the hold.
TEST_F(OutsideHistoryTest, ASuspendedHolderCountsNoLongerThanItsLease) {
    granted_to_b_after(11 * sim_second);
    history.end();
    EXPECT_TRUE(is_explained());
}

TEST_F(OutsideHistoryTest, ASuspendedHolderCountsUntilItsLeaseEnds) {
    granted_to_b_after(9 * sim_second);
    heap.run_until(11 * sim_second);
    history.end();
    EXPECT_FALSE(is_explained());
}

TEST_F(OutsideHistoryTest, AHolderThatResumesLateLostItsHoldLongBefore) {
    granted_to_b_after(11 * sim_second);
    history.lost({{session_of_a, core::Seq{1}}, core::HoldLost::Reason::expired});
    history.end();
    EXPECT_TRUE(is_explained());
}

// The end of its session was not reported yet.
TEST_F(OutsideHistoryTest, WhatIsSuspendedIsInNobodysWayUntilItIsLetGo) {
    granted_to_b_after(11 * sim_second);
    history.releasing(a, {}, {session_of_a, core::Seq{1}});
    EXPECT_TRUE(is_explained());
}

TEST_F(OutsideHistoryTest, WhatIsLetGoLateWasInTheWayWhileItsLeaseLasted) {
    granted_to_b_after(9 * sim_second);
    heap.run_until(11 * sim_second);
    history.releasing(a, {}, {session_of_a, core::Seq{1}});
    EXPECT_FALSE(is_explained());
}

TEST_F(OutsideHistoryTest, ARestartMayEndTheFormerLife) {
    granted(a, session_of_a, 1);
    history.node_lost(a);
    history.node_started(a);
    granted(b, session_of_b, 2);
    EXPECT_TRUE(is_explained());
}

TEST_F(OutsideHistoryTest, SeveralNamesAreSeveralCalls) {
    core::AcquireCall call;
    call.request.which = core::Acquire::Which::all;
    call.tag = core::CallTag{1};
    call.request.names = {{"w", core::LockMode::exclusive}, {"x", core::LockMode::exclusive}};
    history.asked(a, call);
    history.lease_changed({session_of_a, {heap.now() + 10 * sim_second}}, {heap.now()});
    core::Acquired acquired{{session_of_a, core::Seq{1}}, {}, core::Acquire::Which::all};
    acquired.parts = {{"w", core::LockMode::exclusive, core::FencingToken{1}, {}},
                      {"x", core::LockMode::exclusive, core::FencingToken{2}, {}}};
    heap.run_until(heap.now() + sim_millisecond);
    history.answered(a, {call.tag, acquired});
    heap.run_until(heap.now() + sim_millisecond);
    EXPECT_TRUE(is_explained());
    granted(b, session_of_b, 3);
    EXPECT_FALSE(is_explained());
}

TEST_F(OutsideHistoryTest, AHoldThatIsConvertedMayBeOver) {
    granted(a, session_of_a, 1);
    history.asked(a, core::DowngradeCall{core::CallTag{7}, {session_of_a, core::Seq{1}}});
    granted(b, session_of_b, 2);
    EXPECT_TRUE(is_explained());
}

}  // namespace
}  // namespace mortise::sim
