// Runs code that may end its process in a child process, and reports how that ended.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>

#include <unistd.h>

#include "tests/support/child.hpp"

namespace mortise::tests {

// The sanitizers search for leaks at the end, and are slow.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr unsigned exit_seconds_max = 20;
#else
constexpr unsigned exit_seconds_max = 2;
#endif
constexpr unsigned child_seconds_max = 60;

// Ends the process by exit(); with SIGALRM if that takes too long.
[[noreturn]] inline void leave(int status, unsigned seconds_max = exit_seconds_max) {
    ::alarm(seconds_max);
    std::exit(status);
}

// The status as a shell reports it. A body that returns ends in leave(0).
inline int status_of(const std::function<void()>& body) {
    std::fflush(nullptr);
    const auto run = [&]() -> int {
        body();
        leave(0);
    };
    return exit_of_child(run, child_seconds_max);
}

}  // namespace mortise::tests
