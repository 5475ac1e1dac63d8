// A small process that kills the command when `mortise run` cannot: because it was killed itself,
// or is stopped or hangs at the end of the lease.
#pragma once

#include <chrono>

#include <sys/types.h>

#include <mortise/boot_clock.hpp>

namespace mortise::cli {

class Guard {
public:
    // Starts the process. Call it while this process has no other thread. Throws
    // std::system_error.
    Guard();
    // Ends the guard; it kills nothing unless it watches a group.
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

    // From now on the guard kills this process group at that time, or when this process ends. A
    // later call replaces the time. Never blocks or fails: without its guard a command still dies
    // with its parent, though not its own children.
    void watch(pid_t group, BootClock::time_point until) noexcept;
    // The group has ended, and its number may belong to another one soon.
    void forget() noexcept { watch(0, {}); }

private:
    pid_t pid_ = 0;
    int orders_ = -1;  // closed when this process ends
};

}  // namespace mortise::cli
