// The parts of the record of a hold.
#include <future>

#include <gtest/gtest.h>

#include "embed/holds/hold_record.hpp"

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;
using core::Instant;
using Kind = HoldEnd::Kind;

// A program may have a million of them, so none of the parts may cost a byte.
TEST(HoldRecord, IsNoLargerForItsParts) {
    EXPECT_EQ(sizeof(HoldEnd), 2U);
    EXPECT_EQ(sizeof(LossSignal), sizeof(void*));
    EXPECT_EQ(sizeof(TimeLimits), 3 * sizeof(std::int64_t));
    EXPECT_LE(sizeof(HoldRecord), 168U);
}

TEST(TimeLimits, LimitNothingUnlessTheyAreSet) {
    TimeLimits limits;
    limits.begin(Instant{10});
    limits.checkpoint(Instant{20});
    EXPECT_EQ(limits.ends_at(), Instant::never());
    EXPECT_FALSE(limits.end_if_idle(Instant{30}));
}

TEST(TimeLimits, EndWithWhatComesFirst) {
    TimeLimits limits;
    limits.set(Instant{100}, 50ns);
    limits.begin(Instant{10});
    EXPECT_EQ(limits.works_until(), Instant{60});
    EXPECT_EQ(limits.ends_at(), Instant{60});
    limits.checkpoint(Instant{59});
    EXPECT_EQ(limits.works_until(), Instant{109});
    EXPECT_EQ(limits.ends_at(), Instant{100});
}

TEST(TimeLimits, AreNotExtendedByACheckpointThatIsTooLate) {  // S8
    TimeLimits limits;
    limits.set(Instant::never(), 50ns);
    limits.begin(Instant{10});
    limits.checkpoint(Instant{60});
    EXPECT_EQ(limits.works_until(), Instant{60});
}

// A thread has read the clock, and another one was faster.
TEST(TimeLimits, AreNotShortenedByAnOlderCheckpoint) {  // S8
    TimeLimits limits;
    limits.set(Instant::never(), 50ns);
    limits.begin(Instant{10});
    limits.checkpoint(Instant{55});
    limits.checkpoint(Instant{12});
    EXPECT_EQ(limits.works_until(), Instant{105});
}

TEST(TimeLimits, StayOverOnceTheHoldWasIdle) {  // S8
    TimeLimits limits;
    limits.set(Instant::never(), 50ns);
    limits.begin(Instant{10});
    EXPECT_FALSE(limits.end_if_idle(Instant{59}));
    EXPECT_TRUE(limits.end_if_idle(Instant{60}));
    limits.checkpoint(Instant{0});
    EXPECT_LT(limits.ends_at(), Instant{0});
}

TEST(HoldEnd, ComesOnce) {
    HoldEnd end;
    EXPECT_EQ(end.kind(), Kind::none);
    EXPECT_TRUE(end.end(Kind::expired));
    EXPECT_FALSE(end.end(Kind::released));
    EXPECT_EQ(end.kind(), Kind::expired);
}

TEST(HoldEnd, HasAKindForEachLoss) {
    for (const auto why :
         {LossReason::expired, LossReason::broken, LossReason::node_stopped, LossReason::forked}) {
        EXPECT_NE(HoldEnd::of(why), Kind::none);
        EXPECT_EQ(HoldEnd::loss_of(HoldEnd::of(why)), why);
    }
    EXPECT_EQ(HoldEnd::of(LossReason::none), Kind::none);
    EXPECT_EQ(HoldEnd::loss_of(Kind::none), LossReason::none);
    EXPECT_EQ(HoldEnd::loss_of(Kind::released), LossReason::none);
}

TEST(HoldEnd, IsAwaitedUntilTheReleaseIsQueued) {
    HoldEnd end;
    end.end(Kind::released);
    auto waits = std::async(std::launch::async, [&] { end.wait_until_given_back(); });
    EXPECT_EQ(waits.wait_for(10ms), std::future_status::timeout);
    end.set_given_back();
    waits.get();
}

TEST(LossSignal, IsDecidedByWhoComesFirst) {  // S6
    LossSignal heard;
    EXPECT_TRUE(heard.is_untouched());
    const auto token = heard.token();
    EXPECT_FALSE(heard.is_untouched());
    EXPECT_FALSE(heard.ends_unheard());
    EXPECT_FALSE(token.stop_requested());
    EXPECT_FALSE(heard.token().stop_requested());
    LossSignal unheard;
    EXPECT_TRUE(unheard.ends_unheard());
    EXPECT_FALSE(unheard.is_untouched());
    EXPECT_TRUE(unheard.token().stop_requested());
    EXPECT_TRUE(unheard.ends_unheard());
}

TEST(LossSignal, IsGivenToAllTokensEarlyAndLate) {  // S6
    LossSignal signal;
    const auto early = signal.token();
    EXPECT_EQ(early, signal.token());
    signal.give();
    EXPECT_TRUE(early.stop_requested());
    EXPECT_TRUE(signal.token().stop_requested());
    LossSignal other;
    other.give();
    EXPECT_TRUE(other.token().stop_requested());
}

// Of threads that ask at once one makes the state, and a loss at the same moment reaches them all.
TEST(LossSignal, IsTheSameForThreadsThatAskAtOnce) {  // S6
    for (int round = 0; round < 200; ++round) {
        LossSignal signal;
        const auto ask = [&] { return signal.token(); };
        auto one = std::async(std::launch::async, ask);
        auto other = std::async(std::launch::async, ask);
        signal.give();
        EXPECT_TRUE(one.get().stop_requested());
        EXPECT_TRUE(other.get().stop_requested());
    }
}

}  // namespace
}  // namespace mortise::detail
