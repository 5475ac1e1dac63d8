#include <ctime>

#include <mortise/boot_clock.hpp>

namespace mortise {

BootClock::time_point BootClock::now() noexcept {
    timespec time{};
    // This cannot fail: the clock exists since Linux 2.6.39.
    (void)clock_gettime(CLOCK_BOOTTIME, &time);
    return time_point{std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec}};
}

}  // namespace mortise
