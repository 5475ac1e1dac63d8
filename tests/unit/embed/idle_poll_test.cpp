#include "embed/threads/idle_poll.hpp"

#include <gtest/gtest.h>

namespace mortise::detail {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// A thread whose looks take 1 us.
struct Idler {
    explicit Idler(bool enabled = true) : poll{enabled} {}

    // How many looks it makes until `gap` has passed and there is work, or it would sleep.
    int gap(core::Nanoseconds gap) {
        const auto end = now + gap;
        int looks = 0;
        for (; now < end && poll.looks_again(now); ++looks) {
            now = now + microseconds{1};
            poll.yielded(now);
        }
        now = end;
        poll.found_work(now);
        return looks;
    }
    void short_gaps(int count) {
        while (count-- > 0)
            gap(microseconds{50});
    }

    IdlePoll poll;
    core::Instant now{1'000'000'000};
};

TEST(IdlePoll, LooksWhileWorkComesFast) {
    Idler idler;
    idler.short_gaps(30);
    EXPECT_EQ(idler.gap(microseconds{50}), 50);
}

TEST(IdlePoll, SleepsAfterATenthOfAMillisecond) {
    Idler idler;
    idler.short_gaps(30);
    EXPECT_EQ(idler.gap(microseconds{300}), 100);
}

TEST(IdlePoll, SleepsAtOnceAtItsBeginning) {
    Idler idler;
    EXPECT_EQ(idler.gap(microseconds{50}), 0);
}

TEST(IdlePoll, SleepsAtOnceWhileWorkIsSeldom) {
    Idler idler;
    idler.short_gaps(30);
    for (int i = 0; i < 30; ++i)
        idler.gap(microseconds{700});
    EXPECT_EQ(idler.gap(microseconds{50}), 0);
}

// A heartbeat wakes an idle node a few times within a millisecond.
TEST(IdlePoll, SleepsAtOnceBetweenHeartbeats) {
    Idler idler;
    idler.short_gaps(30);
    idler.gap(milliseconds{100});
    int looks = 0;
    for (int heartbeat = 0; heartbeat < 10; ++heartbeat) {
        for (int i = 0; i < 5; ++i)
            looks += idler.gap(microseconds{50});
        idler.gap(milliseconds{100});
    }
    EXPECT_EQ(looks, 0);
}

// Whether or not there is work when it gets the processor back.
TEST(IdlePoll, RestsWhenAYieldRanAnotherProgram) {
    Idler idler;
    idler.short_gaps(30);
    ASSERT_TRUE(idler.poll.looks_again(idler.now));
    idler.now = idler.now + milliseconds{3};
    idler.poll.yielded(idler.now);
    idler.poll.found_work(idler.now);
    idler.short_gaps(100);  // 5 ms
    EXPECT_EQ(idler.gap(microseconds{50}), 0);
    idler.short_gaps(400);
    EXPECT_EQ(idler.gap(microseconds{50}), 50);
}

TEST(IdlePoll, NeverLooksIfItIsDisabled) {
    Idler idler{false};
    idler.short_gaps(30);
    EXPECT_EQ(idler.gap(microseconds{50}), 0);
}

}  // namespace

}  // namespace mortise::detail
