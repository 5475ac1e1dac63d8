// Suppresses a signal that the kernel sends to a writing thread: SIGPIPE, or SIGXFSZ beyond the
// limit of a file's size. The write fails as well, which is enough; the host process must not end.
#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>

#include <pthread.h>
#include <unistd.h>

namespace mortise::storage {

// While it lives, the signal is not delivered to this thread. A signal that was sent meanwhile is
// removed. A signal that was pending before is left to the program, and so are its handlers.
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
        const int errno_before = errno;
        if (!waited_before_) take_away();
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
        errno = errno_before;
    }
    IgnoredSignal(const IgnoredSignal&) = delete;
    IgnoredSignal& operator=(const IgnoredSignal&) = delete;

private:
    // A signal that another process sent to this process is sent again.
    void take_away() const noexcept {
        constexpr timespec at_once{0, 0};
        siginfo_t info{};
        const int taken = sigtimedwait(&only_, &info, &at_once);
        const bool is_ours = info.si_code == SI_KERNEL || info.si_pid == ::getpid();
        if (taken > 0 && !is_ours) ::kill(::getpid(), taken);
    }

    sigset_t only_;
    sigset_t before_;
    bool waited_before_ = false;
};

}  // namespace mortise::storage
