#include "tools/mortise/run/run_signals.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <system_error>

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace mortise::cli {

namespace {

bool is_ignored(int signal) {
    struct sigaction action {};
    return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

int opened(int descriptor, const char* what) {
    if (descriptor < 0) throw std::system_error{errno, std::system_category(), what};
    return descriptor;
}

void close_if_open(int descriptor) {
    if (descriptor >= 0) ::close(descriptor);
}

// Zero would mean that the timer is off.
timespec in_timespec(std::chrono::nanoseconds time) {
    const auto some = std::max(time, std::chrono::nanoseconds{1});
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(some);
    return {seconds.count(), (some - seconds).count()};
}

}  // namespace

RunSignals::RunSignals() {
    // A child whose signal is ignored could not be waited for.
    std::signal(SIGCHLD, SIG_DFL);
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGCHLD);
    for (const int signal :
         {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP, SIGCONT}) {
        if (!is_ignored(signal)) ::sigaddset(&set, signal);
    }
    sigset_t blocked = set;
    ::sigaddset(&blocked, SIGTTOU);  // so that a process in the background may pass the terminal on
    signals_ = opened(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd");
    wakes_ = opened(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd");
    timer_ = opened(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd");
    ::pthread_sigmask(SIG_BLOCK, &blocked, &before_);
}

RunSignals::~RunSignals() {
    for (const int descriptor : {signals_, wakes_, timer_})
        close_if_open(descriptor);
}

std::optional<int> RunSignals::wait_for(std::chrono::nanoseconds time) {
    if (const auto signal = take()) return signal;
    const bool is_limited = time != std::chrono::nanoseconds::max();
    const itimerspec limit{{}, is_limited ? in_timespec(time) : timespec{}};
    ::timerfd_settime(timer_, 0, &limit, nullptr);
    std::array<pollfd, 3> waits{pollfd{signals_, POLLIN, 0}, pollfd{wakes_, POLLIN, 0},
                                pollfd{timer_, POLLIN, 0}};
    ::poll(waits.data(), waits.size(), -1);
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(wakes_, &count, sizeof count);
    return take();
}

std::optional<int> RunSignals::take() const {
    signalfd_siginfo about{};
    const auto got = ::read(signals_, &about, sizeof about);
    if (got != static_cast<ssize_t>(sizeof about)) return std::nullopt;
    return static_cast<int>(about.ssi_signo);
}

// All other threads block the signal, so it is delivered before kill() returns. What continues this
// process is pending then.
bool RunSignals::stop(bool whole_group) {
    struct sigaction before {};
    struct sigaction by_default {};
    by_default.sa_handler = SIG_DFL;
    sigset_t stop_signal;
    ::sigemptyset(&stop_signal);
    ::sigaddset(&stop_signal, SIGTSTP);
    ::sigaction(SIGTSTP, &by_default, &before);
    ::pthread_sigmask(SIG_UNBLOCK, &stop_signal, nullptr);
    ::kill(whole_group ? 0 : ::getpid(), SIGTSTP);
    ::pthread_sigmask(SIG_BLOCK, &stop_signal, nullptr);
    ::sigaction(SIGTSTP, &before, nullptr);
    sigset_t pending;
    ::sigpending(&pending);
    return ::sigismember(&pending, SIGCONT) == 1;
}

void RunSignals::wake() const noexcept {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto sent = ::write(wakes_, &one, sizeof one);
}

}  // namespace mortise::cli
