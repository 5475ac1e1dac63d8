// Runs code that may end its process in a child process, and reports how that ended.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>

#include <sys/wait.h>
#include <unistd.h>

namespace mortise::tests {

inline void expect_in_child(bool holds, const char* condition, int line) {
    if (holds) return;
    std::fprintf(stderr, "line %d: not %s\n", line, condition);
    ::_exit(1);
}
#define IN_CHILD_EXPECT(condition) \
    ::mortise::tests::expect_in_child(static_cast<bool>(condition), #condition, __LINE__)

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

// The status as a shell reports it: 128 plus the signal if a signal ended the process. A body that
// returns ends in leave(0).
inline int status_of(const std::function<void()>& body) {
    std::fflush(nullptr);
    const auto child = ::fork();
    if (child == 0) {
        ::alarm(child_seconds_max);
        try {
            body();
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s\n", error.what());
            ::_exit(2);
        }
        leave(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace mortise::tests
