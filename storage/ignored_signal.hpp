// A signal that the kernel sends to the thread that writes: SIGPIPE, or SIGXFSZ beyond the limit of
// a file's size. The write fails as well, and that is enough; the program around us is not to end.
#pragma once

#include <csignal>
#include <ctime>

#include <pthread.h>

namespace mortise::storage {

// While it lives, the signal does not reach this thread. What was sent meanwhile is taken away;
// what waited before is left to the program, as are its handlers.
class IgnoredSignal {
public:
    explicit IgnoredSignal(int signal) noexcept {
        sigset_t pending;
        sigpending(&pending);
        waited_before_ = sigismember(&pending, signal) == 1;
        sigemptyset(&only_);
        sigaddset(&only_, signal);
        pthread_sigmask(SIG_BLOCK, &only_, &before_);
    }
    ~IgnoredSignal() {
        constexpr timespec at_once{0, 0};
        if (!waited_before_) {
            while (sigtimedwait(&only_, nullptr, &at_once) > 0) {
            }
        }
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    IgnoredSignal(const IgnoredSignal&) = delete;
    IgnoredSignal& operator=(const IgnoredSignal&) = delete;

private:
    sigset_t only_;
    sigset_t before_;
    bool waited_before_ = false;
};

}  // namespace mortise::storage
