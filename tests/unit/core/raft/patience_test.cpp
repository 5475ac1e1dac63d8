#include "core/raft/patience.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace mortise::core::test {
namespace {

using namespace std::chrono_literals;

constexpr Instant beginning{std::int64_t{3'600'000'000'000}};

// A heartbeat of 100 ms and an election timeout of one second.
struct Watched {
    void on_time(Nanoseconds for_time) {
        for (const auto end = now + for_time; now < end;)
            delayed(100ms);
    }
    void delayed(Nanoseconds delay) {
        now = now + delay;
        patience.note(delay, now);
    }

    Patience patience{100ms, 1s};
    Instant now = beginning;
};

TEST(Patience, IsAFewHeartbeatsWhileMessagesComeOnTime) {  // P7
    Watched it;
    EXPECT_EQ(it.patience.value(), 500ms);
    it.on_time(60s);
    EXPECT_EQ(it.patience.value(), 500ms);
}

// A leader under load sends much more often. That says nothing about its heartbeats.
TEST(Patience, IsNoShorterForALeaderThatSaysMuch) {
    Watched it;
    for (int i = 0; i < 1000; ++i)
        it.delayed(100us);
    EXPECT_EQ(it.patience.value(), 500ms);
}

TEST(Patience, OneDelayWidensItAtOnce) {  // P7
    Watched it;
    it.on_time(10s);
    it.delayed(150ms);
    EXPECT_EQ(it.patience.value(), 600ms);
    it.delayed(200ms);
    EXPECT_EQ(it.patience.value(), 800ms);
    it.delayed(110ms);
    EXPECT_EQ(it.patience.value(), 800ms);
}

TEST(Patience, IsNeverMoreThanTheElectionTimeout) {
    for (const auto delay :
         {Nanoseconds{250ms}, Nanoseconds{251ms}, Nanoseconds{24h * 365}, Nanoseconds::max()}) {
        Patience patience{100ms, 1s};
        patience.note(delay, beginning);
        EXPECT_EQ(patience.value(), 1s) << delay.count();
    }
}

// The slowest heartbeat that the configuration allows: a third of the election timeout.
TEST(Patience, IsTheElectionTimeoutIfThatIsOnlyAFewHeartbeats) {
    Patience patience{333ms, 1s};
    EXPECT_EQ(patience.value(), 1s);
    patience.note(333ms, beginning);
    EXPECT_EQ(patience.value(), 1s);
}

TEST(Patience, NarrowsOnlyAfterManyTimeoutsWithoutADelay) {
    Watched it;
    it.on_time(1s);
    it.delayed(600ms);
    it.on_time(16s);
    EXPECT_EQ(it.patience.value(), 1s);
    it.on_time(17s);
    EXPECT_EQ(it.patience.value(), 500ms);
}

// Overload makes delays again and again.
TEST(Patience, StaysWideWhileDelaysGoOn) {
    Watched it;
    for (int i = 0; i < 20; ++i) {
        it.delayed(300ms);
        EXPECT_EQ(it.patience.value(), 1s);
        it.on_time(15s);
        EXPECT_EQ(it.patience.value(), 1s);
    }
}

// As after an hour without a leader.
TEST(Patience, ForgetsWhatWasLongAgo) {
    Watched it;
    it.delayed(600ms);
    it.now = it.now + 1h;
    it.delayed(100ms);
    EXPECT_EQ(it.patience.value(), 500ms);
}

}  // namespace
}  // namespace mortise::core::test
