// Runs code in a child process, and says how that ended.
#pragma once

#include <cstdio>
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

// Returns the exit code as a shell reports it: 128 plus the signal if a signal ended the process.
// -1 if the status is that of no process that has ended.
inline int end_of(pid_t child) {
    int status = 0;
    if (::waitpid(child, &status, 0) != child) return -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// A child of fork() that runs `body`, whose result is its exit code, and ends without destructors
// and functions of std::atexit(); by SIGALRM if it takes too long.
inline pid_t begin_child(const std::function<int()>& body, unsigned seconds_max = 20) {
    const auto child = ::fork();
    if (child != 0) return child;
    ::alarm(seconds_max);
    try {
        ::_exit(body());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        ::_exit(2);
    }
}

inline int exit_of_child(const std::function<int()>& body, unsigned seconds_max = 20) {
    return end_of(begin_child(body, seconds_max));
}

}  // namespace mortise::tests
