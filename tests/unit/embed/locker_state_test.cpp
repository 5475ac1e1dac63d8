#include "embed/holds/locker_state.hpp"

#include <gtest/gtest.h>

#include <mortise/errc.hpp>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

class LockerStateTest : public testing::Test {
protected:
    Hold granted(LockMode mode = LockMode::exclusive) {
        core::Acquired granted;
        granted.parts.push_back({"name", to_core(mode), core::FencingToken{++newest_token_}, {}});
        grant_ = std::make_shared<HoldRecord>(std::move(granted), lease_, gate_);
        return HoldRecord::hold_on(grant_);
    }
    // The first acquire.
    Hold acquire(LockMode mode = LockMode::exclusive) {
        EXPECT_TRUE(locker_->begin("name", mode).asks());
        return locker_->ended("name", granted(mode));
    }
    Hold nest(LockMode mode = LockMode::exclusive) {
        auto turn = locker_->begin("name", mode);
        EXPECT_FALSE(turn.error) << turn.error.message();
        EXPECT_TRUE(turn.nested);
        return std::move(turn.nested);
    }
    std::error_code refusal(LockMode mode = LockMode::exclusive) {
        return locker_->begin("name", mode).error;
    }
    std::size_t releases() {
        std::size_t count = 0;
        for (const auto& submitted : gate_->take())
            count += submitted.is<core::ReleaseCall>() ? 1 : 0;
        return count;
    }

    std::shared_ptr<Lease> lease_ =
        std::make_shared<Lease>(core::SessionId{1}, core::Instant::never(), 1s);
    std::shared_ptr<CallGate> gate_ =
        std::make_shared<CallGate>([] {}, 1s, std::make_shared<Notifier>("test"));
    std::shared_ptr<LockerState> locker_ = std::make_shared<LockerState>(gate_, "");
    std::shared_ptr<HoldRecord> grant_;
    std::uint64_t newest_token_ = 0;
};

TEST_F(LockerStateTest, SharesOneGrantUntilTheLastHasGone) {
    auto first = acquire();
    auto second = nest();
    EXPECT_EQ(first.token(), second.token());
    EXPECT_EQ(locker_->hold_count(), 2U);
    EXPECT_FALSE(first.release());
    EXPECT_FALSE(first);
    EXPECT_EQ(first.state(), HoldState::released);
    EXPECT_TRUE(second.valid());
    EXPECT_EQ(locker_->hold_count(), 1U);
    EXPECT_EQ(releases(), 0U);
    second.unlock();
    EXPECT_EQ(releases(), 1U);
    EXPECT_TRUE(grant_->is_released());
    EXPECT_EQ(locker_->hold_count(), 0U);
}

TEST_F(LockerStateTest, CountsAHoldOnceHoweverOftenItIsReleased) {
    auto first = acquire();
    auto second = nest();
    EXPECT_FALSE(second.release());
    EXPECT_EQ(second.release(), Errc::not_held);
    second.unlock();
    EXPECT_EQ(locker_->hold_count(), 1U);
    EXPECT_TRUE(first.valid());
}

TEST_F(LockerStateTest, TakesWhatTheGrantCovers) {
    using enum LockMode;
    const auto nests = [&](LockMode has, LockMode wants) {
        const auto hold = acquire(has);
        const auto turn = locker_->begin("name", wants);
        EXPECT_EQ(!turn.nested, turn.error == Errc::deadlock);
        return static_cast<bool>(turn.nested) && turn.nested.mode() == wants;
    };
    for (const auto mode :
         {intent_shared, intent_exclusive, shared, shared_intent_exclusive, update, exclusive}) {
        EXPECT_TRUE(nests(mode, mode)) << to_string(mode);
        EXPECT_TRUE(nests(exclusive, mode)) << to_string(mode);
        EXPECT_EQ(nests(mode, exclusive), mode == exclusive) << to_string(mode);
    }
    EXPECT_TRUE(nests(update, shared));
    EXPECT_FALSE(nests(shared, update));
    EXPECT_TRUE(nests(shared_intent_exclusive, intent_exclusive));
    EXPECT_TRUE(nests(shared_intent_exclusive, shared));
    EXPECT_FALSE(nests(intent_exclusive, shared));
}

TEST_F(LockerStateTest, AsksOnceAtATime) {
    EXPECT_TRUE(locker_->begin("name", LockMode::exclusive).asks());
    EXPECT_EQ(refusal(), Errc::invalid_argument);
    EXPECT_TRUE(locker_->begin("other", LockMode::exclusive).asks());
    EXPECT_FALSE(locker_->ended("name", {}));  // nothing was granted
    EXPECT_TRUE(locker_->begin("name", LockMode::exclusive).asks());
}

TEST_F(LockerStateTest, ALossIsOneForAllAndEndsWithTheLastOfThem) {
    auto first = acquire();
    auto second = nest();
    const auto told = second.lost();
    ASSERT_TRUE(grant_->mark_lost(LossReason::expired));
    HoldRecord::notify_lost(grant_);
    EXPECT_TRUE(told.stop_requested());
    for (const auto* hold : {&first, &second}) {
        EXPECT_FALSE(hold->valid());
        EXPECT_EQ(hold->state(), HoldState::lost);
        EXPECT_EQ(hold->why_lost(), LossReason::expired);
    }
    EXPECT_EQ(refusal(), Errc::lock_lost);
    EXPECT_EQ(first.release(), Errc::lock_lost);
    EXPECT_EQ(refusal(), Errc::lock_lost);
    second.unlock();
    EXPECT_EQ(locker_->hold_count(), 0U);
    EXPECT_EQ(releases(), 0U);
    EXPECT_TRUE(locker_->begin("name", LockMode::exclusive).asks());
}

TEST_F(LockerStateTest, ALeaseThatRanOutIsALoss) {
    auto hold = acquire();
    lease_->end();
    EXPECT_EQ(refusal(), Errc::lock_lost);
    hold.unlock();
    EXPECT_EQ(locker_->hold_count(), 0U);
}

TEST_F(LockerStateTest, ReleasesAllAtOnce) {
    auto first = acquire();
    auto second = nest();
    EXPECT_EQ(locker_->release_all().asked.size(), 1U);
    EXPECT_EQ(releases(), 1U);
    EXPECT_EQ(locker_->hold_count(), 0U);
    EXPECT_EQ(first.state(), HoldState::released);
    EXPECT_FALSE(second.valid());
    EXPECT_EQ(second.release(), Errc::not_held);
}

// A hold of an earlier grant has no effect on the next grant.
TEST_F(LockerStateTest, WhatIsLeftOfAFormerGrantFreesNothing) {
    auto former = acquire();
    EXPECT_EQ(locker_->release_all().asked.size(), 1U);
    auto present = acquire();
    former.unlock();
    { const auto gone = std::move(former); }
    EXPECT_EQ(locker_->hold_count(), 1U);
    EXPECT_TRUE(present.valid());
    EXPECT_EQ(releases(), 1U);
}

TEST_F(LockerStateTest, HasABound) {
    std::vector<Hold> holds;
    holds.push_back(acquire());
    while (holds.size() < LockerState::nesting_max)
        holds.push_back(nest());
    EXPECT_EQ(refusal(), Errc::resource_exhausted);
    holds.clear();
    EXPECT_EQ(releases(), 1U);
}

}  // namespace
}  // namespace mortise::detail
