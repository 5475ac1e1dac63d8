// A small process that kills the command when `mortise run` cannot: because it was killed itself,
// or is stopped or hangs at the end of the lease.
#pragma once

#include <chrono>
#include <system_error>

#include <sys/types.h>

#include <mortise/boot_clock.hpp>

namespace mortise::cli {

class Guard {
public:
    // Starts the process. Throws std::system_error.
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

    // Replaces a guard that somebody has killed or stopped; call it after SIGCHLD. Returns an error
    // of the system if that is impossible now; then call it again.
    [[nodiscard]] std::error_code keep() noexcept;
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

private:
    [[nodiscard]] std::error_code start() noexcept;
    void end() noexcept;

    pid_t pid_ = 0;
    int orders_ = -1;  // closed when this process ends
    pid_t group_ = 0;
    BootClock::time_point until_{};
};

}  // namespace mortise::cli
