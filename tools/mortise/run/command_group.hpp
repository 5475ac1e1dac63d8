// The process group of the command, which another thread can kill while the main thread waits for
// something else, or hangs.
#pragma once

#include <mutex>

#include <sys/types.h>

namespace mortise::cli {

// Thread-safe.
class CommandGroup {
public:
    // There is a group now. If kill() was called before, it is killed at once.
    void begin(pid_t group) noexcept;
    // Call it before somebody waits for the process: afterwards the number may belong to others.
    void forget() noexcept { begin(0); }
    // Sends SIGKILL to the group, and to every later one.
    void kill() noexcept;

private:
    void kill_group() const noexcept;

    std::mutex mutex_;
    pid_t group_ = 0;
    bool is_killed_ = false;
};

}  // namespace mortise::cli
