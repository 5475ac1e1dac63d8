#include "embed/holds/hold_table.hpp"

#include <future>
#include <memory>
#include <stop_token>
#include <system_error>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "embed/holds/locker_state.hpp"
#include "embed/values/clocks.hpp"
#include <mortise/detail/for_others.hpp>
#include <mortise/errc.hpp>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

constexpr core::SessionId session{1};
constexpr core::OperationId operation{session, core::Seq{1}};

class HoldTableTest : public testing::Test {
protected:
    core::Calls lease_until(core::Instant boot) { return table_.lease_changed({session, boot}); }
    Hold granted(bool suspends = false, core::Nanoseconds progress_timeout = {}) {
        core::Acquired granted;
        granted.hold = operation;
        granted.parts.push_back({"name", core::LockMode::exclusive, core::FencingToken{7}, {}});
        granted.suspends = suspends;
        core::AcquireCall acquire;
        acquire.progress_timeout = progress_timeout;
        return table_.add(std::move(granted), acquire);
    }
    // Waits until the program is notified.
    static void await(const std::stop_token& token) {
        std::promise<void> told;
        const std::stop_callback on_lost{token, [&] { told.set_value(); }};
        told.get_future().wait();
    }

    Notifier notifier_{"test"};
    Notifier losses_{"test"};
    EventHub events_{notifier_};
    LeaseThread leases_{[](const std::shared_ptr<Lease>&) {}, [](const std::shared_ptr<Lease>&) {}};
    const std::shared_ptr<CallGate> gate_ =
        std::make_shared<CallGate>([] {}, 1s, std::make_shared<Notifier>("test"));
    HoldTable table_{{gate_, events_, leases_, losses_, std::make_shared<GrantCache>(gate_)}, 0ns};
};

TEST_F(HoldTableTest, AHoldLivesWithTheLease) {
    EXPECT_FALSE(table_.has_valid_lease());
    EXPECT_TRUE(lease_until(boot_now() + 1h).calls.empty());
    EXPECT_TRUE(table_.has_valid_lease());
    const auto hold = granted();
    EXPECT_TRUE(hold.valid());
    EXPECT_EQ(hold.token(), FencingToken::from_raw(7));
    table_.lost({operation, core::HoldLost::Reason::expired});
    EXPECT_FALSE(hold.valid());
    EXPECT_EQ(hold.why_lost(), LossReason::expired);
    await(hold.lost());
    EXPECT_EQ(table_.holds_lost(), 1U);
    EXPECT_EQ(table_.size(), 0U);
}

TEST_F(HoldTableTest, ARecordIsTheCallOfItsRelease) {  // P11
    lease_until(boot_now() + 1h);
    core::Acquired granted;
    granted.hold = operation;
    granted.parts.push_back({"name", core::LockMode::exclusive, core::FencingToken{7}, {}});
    auto hold = table_.add(std::move(granted), {});
    const Submitted* const its = HoldRecord::of(hold).get();
    hold.unlock();
    const auto calls = gate_->take();
    ASSERT_EQ(calls.size(), 1U);
    EXPECT_EQ(&calls.front(), its);
    EXPECT_TRUE(calls.front().is<core::ReleaseCall>());
    EXPECT_EQ(calls.front().hold(), operation);
}

TEST_F(HoldTableTest, AHoldWhoseOwnerWasNotHeardIsLostAndTheCoreReleasesIt) {  // S6, S9
    lease_until(boot_now() + 1h);
    auto hold = granted();
    lapse(hold);
    EXPECT_EQ(hold.why_lost(), LossReason::expired);
    await(hold.lost());
    const auto calls = gate_->take();
    ASSERT_FALSE(calls.empty());
    EXPECT_TRUE(calls.front().is<core::ReleaseCall>());
    EXPECT_TRUE(calls.front().is_lapse());
    EXPECT_EQ(calls.front().hold(), operation);
    table_.lapsed(operation);
    EXPECT_EQ(table_.holds_lost(), 1U);
    EXPECT_EQ(table_.size(), 0U);
    EXPECT_EQ(hold.release(), Errc::lock_lost);
}

TEST_F(HoldTableTest, WhatWasReleasedDoesNotLapse) {
    lease_until(boot_now() + 1h);
    auto hold = granted();
    hold.unlock();
    lapse(hold);
    EXPECT_EQ(hold.state(), HoldState::released);
    EXPECT_EQ(gate_->take().size(), 1U);
}

// The value may have been written by a later holder.
TEST_F(HoldTableTest, AValueThatComesAfterTheLossIsNotTold) {  // S36
    lease_until(boot_now() + 1h);
    const auto hold = granted();
    std::error_code ec;
    std::thread reader{[&] { static_cast<void>(hold.value(ec)); }};
    SubmittedCalls asked;
    while (asked.empty())
        asked = gate_->take();
    table_.lost({operation, core::HoldLost::Reason::expired});
    asked.front().answer({});
    reader.join();
    EXPECT_EQ(ec, Errc::lock_lost);
}

TEST_F(HoldTableTest, TheCoreHearsWhenTheOwnerOfALostHoldWasTold) {  // S6, P3
    lease_until(boot_now() + 1h);
    const auto hold = granted();
    std::promise<void> begun;
    std::promise<void> enough;
    const std::stop_callback on_lost{hold.lost(), [&] {
                                         begun.set_value();
                                         enough.get_future().wait();
                                     }};
    table_.lost({operation, core::HoldLost::Reason::over});
    begun.get_future().wait();
    EXPECT_TRUE(gate_->take().empty());
    enough.set_value();
    losses_.stop();
    const auto calls = gate_->take();
    ASSERT_EQ(calls.size(), 1U);
    EXPECT_TRUE(calls.front().is<core::ToldCall>());
    EXPECT_EQ(calls.front().hold(), operation);
}

TEST_F(HoldTableTest, ACloseNamesTheHoldsWhoseOwnersListen) {  // S6, P3
    lease_until(boot_now() + 1h);
    const auto hold = granted();
    std::promise<void> told;
    const std::stop_callback on_lost{hold.lost(), [&] { told.set_value(); }};
    EXPECT_EQ(table_.close(), std::vector{operation});
    EXPECT_EQ(hold.why_lost(), LossReason::node_stopped);
    told.get_future().wait();
    losses_.stop();
    EXPECT_TRUE(gate_->take().front().is<core::ToldCall>());
    EXPECT_EQ(table_.size(), 0U);
    EXPECT_EQ(table_.counts().lost_node_stopped, 1U);
    EXPECT_TRUE(table_.close().empty());
}

// No thread is needed to tell nobody. Who asks too late is told by the thread that asks.
TEST_F(HoldTableTest, ACloseWaitsForNobodyWhereNobodyListens) {  // S6, P3
    losses_.stop();
    lease_until(boot_now() + 1h);
    const auto hold = granted();
    EXPECT_TRUE(table_.close().empty());
    EXPECT_FALSE(hold.valid());
    EXPECT_TRUE(hold.lost().stop_requested());
    EXPECT_TRUE(gate_->take().empty());
}

TEST_F(HoldTableTest, ACloseWaitsForNobodyWhoHasReleased) {
    lease_until(boot_now() + 1h);
    auto hold = granted();
    const auto lost = hold.lost();
    hold.unlock();
    EXPECT_TRUE(table_.close().empty());
    EXPECT_EQ(table_.counts().lost_node_stopped, 0U);
    losses_.stop();
    EXPECT_FALSE(lost.stop_requested());
}

// A session may be opened so slowly that its lease has ended already.
TEST_F(HoldTableTest, AHoldThatIsGrantedTooLateIsLostFromTheStart) {  // P3, B-R6
    lease_until(boot_now());
    EXPECT_FALSE(table_.has_valid_lease());
    const auto hold = granted();
    EXPECT_FALSE(hold.valid());
    EXPECT_EQ(hold.why_lost(), LossReason::expired);
}

// The renewal succeeds, but the owners may have seen that their holds are not valid.
TEST_F(HoldTableTest, ARenewalThatComesTooLateGivesTheHoldsBack) {
    lease_until(boot_now() + 1ms);
    const auto hold = granted();
    while (hold.valid()) {
    }
    const auto releases = lease_until(boot_now() + 1h);
    ASSERT_EQ(releases.calls.size(), 1U);
    EXPECT_EQ(std::get<core::ReleaseCall>(releases.calls.front()).hold, operation);
    EXPECT_FALSE(hold.valid());
    await(hold.lost());
    EXPECT_TRUE(table_.has_valid_lease());
    EXPECT_EQ(table_.sessions_expired(), 0U);
}

// Its own release is on its way; this one would say that the hold was lost (S9, S23).
TEST_F(HoldTableTest, WhatWasGivenBackInTimeIsNotGivenBackAsIdle) {
    lease_until(boot_now() + 1h);
    auto hold = granted(false, 20ms);
    hold.unlock();
    ASSERT_LT(table_.idle_at(), boot_now() + 1s);
    while (boot_now() < table_.idle_at()) {
    }
    EXPECT_TRUE(table_.end_idle(boot_now()).calls.empty());
    EXPECT_EQ(table_.size(), 0U);
    EXPECT_EQ(table_.holds_lost(), 0U);
}

TEST_F(HoldTableTest, WhatWasGivenBackInTimeIsNotGivenBackWithALateLease) {  // S9, S23
    const auto until = boot_now() + 20ms;
    lease_until(until);
    auto hold = granted();
    hold.unlock();
    while (boot_now() < until) {
    }
    EXPECT_TRUE(lease_until(boot_now() + 1h).calls.empty());
    EXPECT_EQ(table_.size(), 0U);
    EXPECT_EQ(table_.holds_lost(), 0U);
}

TEST_F(HoldTableTest, ASuspendedHoldIsHeldAgainWithItsSession) {  // S6
    lease_until(boot_now() + 1ms);
    const auto hold = granted(true);
    while (hold.state() == HoldState::held) {
    }
    EXPECT_FALSE(hold.valid());
    EXPECT_EQ(hold.state(), HoldState::suspended);
    EXPECT_TRUE(lease_until(boot_now() + 1h).calls.empty());
    EXPECT_EQ(hold.state(), HoldState::held);
    EXPECT_FALSE(hold.lost().stop_requested());
}

TEST_F(HoldTableTest, ASuspendedHoldIsNotHeldByAnotherSession) {  // S1, S6
    lease_until(boot_now());
    const auto hold = granted(true);
    static_cast<void>(table_.lease_changed({core::SessionId{2}, boot_now() + 1h}));
    EXPECT_FALSE(hold.valid());
    EXPECT_EQ(hold.state(), HoldState::lost);
}

TEST_F(HoldTableTest, TheOwnerIsToldOnceThatItsHoldIsSuspended) {  // S6
    lease_until(boot_now());
    const auto hold = granted(true);
    std::promise<void> told;  // would throw at the second time
    HoldRecord::watch(HoldRecord::of(hold), {{}, [&] { told.set_value(); }, {}});
    table_.suspended(operation);
    table_.suspended(operation);
    told.get_future().wait();
    std::promise<void> after;
    losses_.post([&] { after.set_value(); });
    after.get_future().wait();
}

// The table lists the grant, and the owner watches its own hold of it.
TEST_F(HoldTableTest, TheOwnerOfALockersHoldIsToldThatItIsSuspended) {  // S6, S22
    lease_until(boot_now() + 50ms);
    const auto grant = granted(true);
    const auto& record = HoldRecord::of(grant);
    const auto owned = std::make_shared<HoldRecord>(record, LockMode::exclusive,
                                                    std::make_shared<LockerState>(gate_, ""));
    std::promise<void> told;  // would throw at the second time
    HoldRecord::watch(owned, {{}, [&] { told.set_value(); }, {}});
    while (grant.valid()) {
    }
    table_.suspended(operation);
    EXPECT_EQ(told.get_future().wait_for(5s), std::future_status::ready);
    losses_.stop();
}

TEST_F(HoldTableTest, ANewSessionEndsWhatTheOldOneHad) {
    lease_until(boot_now() + 1h);
    const auto hold = granted();
    EXPECT_EQ(table_.lease_changed({core::SessionId{2}, boot_now() + 1h}).calls.size(), 1U);
    EXPECT_EQ(hold.why_lost(), LossReason::expired);
    EXPECT_EQ(table_.sessions_expired(), 1U);
}

TEST_F(HoldTableTest, WhatWasGivenBackIsNotLost) {
    lease_until(boot_now() + 1h);
    auto hold = granted();
    hold.unlock();
    table_.lose_everything(LossReason::node_stopped);
    EXPECT_EQ(table_.holds_lost(), 0U);
    EXPECT_FALSE(hold.lost().stop_requested());
}

TEST_F(HoldTableTest, AReleaseAfterItsProgressTimeoutIsALoss) {  // S8, S23
    lease_until(boot_now() + 1h);
    auto hold = granted(false, 1ms);
    ASSERT_LT(table_.idle_at(), boot_now() + 1s);
    while (hold.valid()) {
    }
    EXPECT_EQ(hold.release(), Errc::lock_lost);
    EXPECT_EQ(hold.state(), HoldState::lost);
    const auto releases = table_.end_idle(boot_now());
    ASSERT_EQ(releases.calls.size(), 1U);
    EXPECT_TRUE(std::get<core::ReleaseCall>(releases.calls.front()).lost);
    EXPECT_EQ(table_.holds_lost(), 1U);
}

TEST_F(HoldTableTest, WhatWasGivenBackIsNotLookedAtAnyMore) {  // P11
    lease_until(boot_now() + 1h);
    const auto hold = granted(false, 1h);
    EXPECT_NE(table_.idle_at(), core::Instant::never());
    table_.given_back(operation);
    EXPECT_EQ(table_.idle_at(), core::Instant::never());
}

TEST_F(HoldTableTest, NobodyWatchesWhatWasLostAndLetGo) {  // P11
    lease_until(boot_now() + 1h);
    auto hold = granted();
    const auto record = HoldRecord::of(hold);
    HoldRecord::watch(record, {[](Duration) {}, {}, {}});
    table_.lost({operation, core::HoldLost::Reason::broken});
    EXPECT_EQ(record->lease()->risk_watchers().size(), 1U);
    hold.unlock();
    EXPECT_TRUE(record->lease()->risk_watchers().empty());
}

TEST_F(HoldTableTest, TheEndOfTheNodeIsTheEndOfItsHolds) {  // P5
    lease_until(boot_now() + 1h);
    const auto hold = granted();
    table_.lose_everything(LossReason::node_stopped);
    EXPECT_EQ(hold.why_lost(), LossReason::node_stopped);
    EXPECT_FALSE(table_.has_valid_lease());
    await(hold.lost());
}

}  // namespace
}  // namespace mortise::detail
