#include <ctime>

#include <gtest/gtest.h>

#include <mortise/boot_clock.hpp>

namespace mortise {
namespace {

static_assert(std::chrono::is_clock_v<BootClock> && BootClock::is_steady);

BootClock::time_point read(clockid_t clock) {
    timespec time{};
    EXPECT_EQ(clock_gettime(clock, &time), 0);
    return BootClock::time_point{std::chrono::seconds{time.tv_sec} +
                                 std::chrono::nanoseconds{time.tv_nsec}};
}

TEST(BootClock, IsTheKernelsClockThatCountsSuspend) {
    const auto before = read(CLOCK_BOOTTIME);
    const auto now = BootClock::now();
    const auto after = read(CLOCK_BOOTTIME);
    EXPECT_LE(before, now);
    EXPECT_LE(now, after);
}

TEST(BootClock, NeverGoesBack) {
    auto last = BootClock::now();
    for (int i = 0; i < 1'000; ++i) {
        const auto now = BootClock::now();
        ASSERT_LE(last, now);
        last = now;
    }
}

}  // namespace
}  // namespace mortise
