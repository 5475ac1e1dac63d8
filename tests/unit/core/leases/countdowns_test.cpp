// The countdowns of a voter (S4): when they elapse, and what a restart keeps of them.
#include "core/leases/countdowns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/check.hpp"
#include "core/leases/lease_times.hpp"

namespace mortise::core {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using Saved = SavedCountdown<RenewedLease>;

constexpr SessionId one{1};
constexpr SessionId two{2};
constexpr LogIndex first{10};
constexpr LogIndex second{20};
// ttl*(1+rho)
constexpr Nanoseconds patience = 10'100ms;

constexpr Instant at(Nanoseconds time) {
    return Instant{} + time;
}

class CountdownsTest : public testing::Test {
protected:
    CountdownsTest() {
        opened_.ttl_ms = 10'000;
        opened_.rho_ppm = 10'000;
    }
    void start(SessionId session, LogIndex renewed_at, Instant now, Nanoseconds elapsed = {}) {
        countdowns_.start({session, renewed_at}, lease_times(opened_), elapsed, now);
    }
    const std::set<RenewedLease>& run_out_by(Instant now) {
        countdowns_.advance(now);
        return countdowns_.run_out();
    }

    OpenSession opened_;
    Countdowns<RenewedLease> countdowns_;
};

TEST(LeaseTimes, TheClusterWaitsLongerThanAHolderTrusts) {
    EXPECT_EQ(cluster_patience(10'000, 10'000), 10'100ms);
    EXPECT_EQ(holder_trust(10'000, 10'000), 9'800ms);
    EXPECT_EQ(holder_trust(2'000, 10'000), 1'930ms);  // the smallest margin
    EXPECT_EQ(holder_trust(10, 10'000), 0ms);
    for (const std::uint32_t ttl : {1U, 999U, 86'400'000U}) {
        EXPECT_LT(holder_trust(ttl, 100), cluster_patience(ttl, 100));
        EXPECT_GE(cluster_patience(ttl, 0), std::chrono::milliseconds{ttl});
    }
}

TEST_F(CountdownsTest, RunsOutAtItsEndAndNotBefore) {
    start(one, first, at(1s));
    EXPECT_THAT(run_out_by(at(1s + patience - 1ns)), IsEmpty());
    EXPECT_THAT(run_out_by(at(1s + patience)), ElementsAre(RenewedLease{one, first}));
}

TEST_F(CountdownsTest, WhatRanOutIsToldAgainAndAgain) {  // P8
    start(one, first, at(0s));
    run_out_by(at(patience));
    EXPECT_THAT(run_out_by(at(1h)), ElementsAre(RenewedLease{one, first}));
}

TEST_F(CountdownsTest, ARenewalStartsItAgainAndTakesBackThatItRanOut) {
    start(one, first, at(0s));
    run_out_by(at(patience));
    countdowns_.stop(one);
    start(one, second, at(20s));
    EXPECT_THAT(run_out_by(at(20s)), IsEmpty());
    EXPECT_THAT(run_out_by(at(20s + patience)), ElementsAre(RenewedLease{one, second}));
}

TEST_F(CountdownsTest, CountOneLeasePerSession) {
    start(one, first, at(0s));
    EXPECT_THROW(start(one, second, at(1s)), InvariantBroken);
    EXPECT_EQ((countdowns_.elapsed({one, first}, at(3s))), 3s);
    EXPECT_EQ((countdowns_.elapsed({one, second}, at(3s))), 0s);
    EXPECT_EQ((countdowns_.left({one, second}, at(3s))), std::nullopt);
}

TEST_F(CountdownsTest, OneThatWasStoppedHasNotRunOut) {
    start(one, first, at(0s));
    start(two, first, at(0s));
    run_out_by(at(patience));
    countdowns_.stop(one);
    EXPECT_THAT(run_out_by(at(1h)), ElementsAre(RenewedLease{two, first}));
    countdowns_.stop(one);  // stopping one that does not run has no effect
    countdowns_.stop(two);
    EXPECT_THAT(run_out_by(at(1h)), IsEmpty());
}

TEST_F(CountdownsTest, EachRunsByItself) {
    start(two, first, at(0s));
    start(one, first, at(3s));
    EXPECT_THAT(run_out_by(at(patience)), ElementsAre(RenewedLease{two, first}));
    EXPECT_THAT(run_out_by(at(3s + patience)),
                ElementsAre(RenewedLease{one, first}, RenewedLease{two, first}));
}

TEST_F(CountdownsTest, ARestartGoesOnFromWhatWasSaved) {  // P3, B-R5
    start(one, first, at(0s));
    const auto saved = countdowns_.save(at(4s));
    EXPECT_THAT(saved, ElementsAre(Saved{{one, first}, 4s}));
    Countdowns<RenewedLease> again;
    again.start(saved[0].timer, lease_times(opened_), saved[0].elapsed, at(100s));
    again.advance(at(96s + patience - 1ns));
    EXPECT_THAT(again.run_out(), IsEmpty());
    again.advance(at(96s + patience));
    EXPECT_THAT(again.run_out(), ElementsAre(RenewedLease{one, first}));
}

TEST_F(CountdownsTest, WhatRanOutIsSavedAsWell) {
    start(one, first, at(0s));
    run_out_by(at(patience));
    EXPECT_THAT(countdowns_.save(at(12s)), ElementsAre(Saved{{one, first}, 12s}));
}

TEST_F(CountdownsTest, ASaveIsDueEveryEighthOfTheTtlWhileSomethingRuns) {
    EXPECT_EQ(countdowns_.save_at(), Instant::never());
    start(one, first, at(1s));
    EXPECT_EQ(countdowns_.save_at(), at(1s + 1'250ms));
    EXPECT_EQ(countdowns_.deadline(), at(1s + 1'250ms));
    countdowns_.saved(at(2'250ms));
    EXPECT_EQ(countdowns_.save_at(), at(3'500ms));
    countdowns_.stop(one);
    countdowns_.saved(at(3'500ms));
    EXPECT_EQ(countdowns_.save_at(), Instant::never());
    EXPECT_EQ(countdowns_.deadline(), Instant::never());
}

TEST_F(CountdownsTest, AsksToBeLookedAtWhenTheFirstRunsOut) {
    opened_.ttl_ms = 1'000'000;  // the next save is far away
    start(one, first, at(0s));
    opened_.ttl_ms = 1'000;
    start(two, first, at(0s));
    countdowns_.saved(at(990ms));
    EXPECT_EQ(countdowns_.deadline(), at(1'010ms));
    run_out_by(at(1'010ms));
    EXPECT_EQ(countdowns_.deadline(), at(990ms + 125ms));
}

}  // namespace
}  // namespace mortise::core
