#include "embed/holds/lease.hpp"

#include <gtest/gtest.h>

#include "embed/holds/held_records.hpp"
#include "embed/holds/hold_record.hpp"
#include "embed/threads/call_gate.hpp"
#include "embed/values/clocks.hpp"
#include <mortise/errc.hpp>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

core::Instant in(core::Nanoseconds time) {
    return boot_now() + time;
}

std::shared_ptr<HoldRecord> hold_on(const std::shared_ptr<Lease>& lease, std::uint64_t seq = 1) {
    core::Acquired granted;
    granted.hold = {core::SessionId{1}, core::Seq{seq}};
    granted.parts.push_back({"name", core::LockMode::exclusive, core::FencingToken{7}, {}});
    auto gate = std::make_shared<CallGate>([] {}, 1s, std::make_shared<Notifier>("test"));
    return std::make_shared<HoldRecord>(std::move(granted), lease, std::move(gate));
}

TEST(Lease, IsValidUntilItsEnd) {
    const Lease lease{core::SessionId{1}, core::Instant{100}, 10ns};
    EXPECT_TRUE(lease.is_valid({99}));
    EXPECT_FALSE(lease.is_valid({100}));
    EXPECT_FALSE(lease.is_at_risk({89}));
    EXPECT_TRUE(lease.is_at_risk({90}));
}

TEST(Lease, IsOnlyEverExtendedForward) {
    const auto first = in(1h);
    const auto later = first + 1h;
    Lease lease{core::SessionId{1}, first, 10ns};
    EXPECT_TRUE(lease.extend(later));
    EXPECT_TRUE(lease.extend(first));
    EXPECT_EQ(lease.valid_until(), later);
}

// Its owners may have seen that it is not valid, so it stays invalid.
TEST(Lease, IsNotExtendedOnceItHasRunOut) {  // P3
    const auto now = boot_now();
    Lease lease{core::SessionId{1}, now, 10ns};
    EXPECT_FALSE(lease.extend(now + 1h));
    EXPECT_FALSE(lease.is_valid(now));
    EXPECT_TRUE(lease.is_over());
}

TEST(Lease, EndsOnceItHasRunOutAndNotBefore) {
    Lease lease{core::SessionId{1}, core::Instant{100}, 10ns};
    EXPECT_FALSE(lease.end_if_run_out({99}));
    EXPECT_TRUE(lease.end_if_run_out({100}));
    EXPECT_FALSE(lease.end_if_run_out({100}));
}

// A renewal that arrives after the owners were notified must not make their holds valid again.
TEST(Lease, IsNotExtendedOnceItIsOver) {
    Lease lease{core::SessionId{1}, core::Instant{100}, 10ns};
    EXPECT_TRUE(lease.end());
    EXPECT_FALSE(lease.extend(in(1h)));
    EXPECT_FALSE(lease.is_valid({0}));
    EXPECT_FALSE(lease.end());
}

TEST(HoldRecord, IsLostWithItsLeaseBeforeAnybodyGetsToIt) {
    const auto lease = std::make_shared<Lease>(core::SessionId{1}, in(1h), 1s);
    const auto record = hold_on(lease);
    EXPECT_EQ(record->state(), HoldState::held);
    EXPECT_FALSE(record->failure());
    lease->end();
    EXPECT_FALSE(record->is_valid());
    EXPECT_EQ(record->state(), HoldState::lost);
    EXPECT_EQ(record->why_lost(), LossReason::expired);
    EXPECT_EQ(record->failure(), Errc::lock_lost);
}

TEST(Lease, ALastingOneIsValidAgainWhenItIsExtended) {  // S6
    const auto lease = Lease::make_lasting(core::SessionId{1}, boot_now(), 1s);
    EXPECT_FALSE(lease->end_if_run_out(in(1h)));
    EXPECT_TRUE(lease->is_suspended(boot_now()));
    EXPECT_TRUE(lease->extend(in(2h)));
    EXPECT_TRUE(lease->is_valid(in(1h)));
    EXPECT_FALSE(lease->is_suspended(boot_now()));
}

TEST(Lease, ALastingOneEndsForGood) {  // S6
    const auto lease = Lease::make_lasting(core::SessionId{1}, boot_now(), 1s);
    EXPECT_TRUE(lease->end());
    EXPECT_FALSE(lease->is_suspended(boot_now()));
    EXPECT_FALSE(lease->extend(in(1h)));
    EXPECT_FALSE(lease->is_valid(boot_now()));
}

TEST(HoldRecord, IsSuspendedWithALastingLeaseAndLostWithItsEnd) {  // S6
    const auto lease = Lease::make_lasting(core::SessionId{1}, boot_now(), 1s);
    const auto record = hold_on(lease);
    EXPECT_EQ(record->state(), HoldState::suspended);
    EXPECT_FALSE(record->is_valid());
    EXPECT_EQ(record->why_lost(), LossReason::none);
    EXPECT_EQ(record->failure(), Errc::no_quorum);
    lease->extend(in(1h));
    EXPECT_EQ(record->state(), HoldState::held);
    EXPECT_FALSE(record->failure());
    lease->end();
    EXPECT_EQ(record->state(), HoldState::lost);
    EXPECT_EQ(record->failure(), Errc::lock_lost);
}

TEST(HoldRecord, IsAtRiskNearTheEndOfItsLease) {
    const auto record = hold_on(std::make_shared<Lease>(core::SessionId{1}, in(1h), 2h));
    EXPECT_EQ(record->state(), HoldState::at_risk);
    EXPECT_TRUE(record->is_valid());
}

TEST(HoldRecord, EndsOnce) {
    const auto lease = std::make_shared<Lease>(core::SessionId{1}, in(1h), 1s);
    const auto released = hold_on(lease);
    EXPECT_TRUE(released->mark_released());
    EXPECT_FALSE(released->mark_lost(LossReason::expired));
    EXPECT_EQ(released->state(), HoldState::released);
    EXPECT_EQ(released->failure(), Errc::not_held);

    const auto lost = hold_on(lease);
    EXPECT_TRUE(lost->mark_lost(LossReason::node_stopped));
    EXPECT_FALSE(lost->mark_released());
    EXPECT_EQ(lost->failure(), Errc::node_stopped);
}

TEST(Lease, HasItsOwnHoldsAmongAllThatAreKnown) {
    auto records = std::make_shared<HeldRecords>();
    const auto lease = std::make_shared<Lease>(core::SessionId{1}, in(1h), 1s, records);
    const auto lasting = Lease::make_lasting(core::SessionId{1}, in(1h), 1s, records);
    const auto kept = hold_on(lease, 1);
    const auto other = hold_on(lasting, 2);
    const auto removed = hold_on(lease, 3);
    for (const auto& one : {kept, other, removed})
        records->add(one);
    EXPECT_EQ(records->take(removed->hold()), removed);
    EXPECT_EQ(lease->holds(), std::vector{kept});
    EXPECT_EQ(lasting->holds(), std::vector{other});
    records.reset();
    EXPECT_TRUE(lease->holds().empty());
}

}  // namespace
}  // namespace mortise::detail
