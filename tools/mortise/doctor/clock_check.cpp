// Checks the clocks. Mortise compares no times of day and no times of two machines: it needs
// clocks that run at the right rate.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>

#include "tools/mortise/doctor/checks.hpp"

namespace mortise::cli {

namespace {

constexpr const char* about_clock = "clock";

std::string in_percent(double part) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f %%", 100 * part);
    return text.data();
}

}  // namespace

Finding judge_clock_source(const std::string& name) {
    if (name == "jiffies" || name == "refined-jiffies") {
        return warning(about_clock, "the clock source is " + name + ", which loses time under load",
                       "choose another one of /sys/devices/system/clocksource/clocksource0/"
                       "available_clocksource");
    }
    return fine(about_clock, "CLOCK_BOOTTIME works" +
                                 (name.empty() ? std::string{} : ", the clock source is " + name));
}

// A system without CLOCK_BOOTTIME would not count the time during which it was suspended.
Findings check_clock() {
    timespec now{};
    if (::clock_gettime(CLOCK_BOOTTIME, &now) != 0) {
        return {problem(about_clock, "this system has no CLOCK_BOOTTIME",
                        "use Linux 2.6.39 or later, and a sandbox that allows clock_gettime")};
    }
    std::ifstream file{"/sys/devices/system/clocksource/clocksource0/current_clocksource"};
    std::string source;
    file >> source;
    return {judge_clock_source(source)};
}

std::optional<Finding> judge_clock_rate(const std::string& about, const UptimeSample& first,
                                        const UptimeSample& second, double bound) {
    using Seconds = std::chrono::duration<double>;
    const Seconds there = second.uptime - first.uptime;
    // The member read its clock at some time of each call.
    const Seconds at_least = second.began - first.ended;
    const Seconds at_most = second.ended - first.began;
    if (there.count() <= 0 || at_least.count() <= 0) return std::nullopt;
    const auto too_fast = there / at_most - 1;
    const auto too_slow = 1 - there / at_least;
    const auto off = std::max(too_fast, too_slow);
    if (off > bound) {
        return problem(about,
                       "its clock runs at least " + in_percent(off) +
                           (too_fast > too_slow ? " faster" : " slower") +
                           " than the one here, and timing.clock_rate_bound is " +
                           in_percent(bound),
                       "correct the clock of the machine that is wrong (chronyc tracking, the "
                       "clock source), because leases depend on it");
    }
    const auto unsure = at_most / at_least - 1;
    if (unsure > bound) return std::nullopt;
    return fine(about, "its clock runs as fast as the one here, within " +
                           in_percent(std::max(std::abs(there / at_most - 1),
                                               std::abs(there / at_least - 1))));
}

}  // namespace mortise::cli
