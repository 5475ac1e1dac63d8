#include "tools/mortise/run/guard.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <system_error>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mortise::cli {

namespace {

// A packet of the socket.
struct Order {
    pid_t group = 0;
    std::int64_t until_ns = 0;  // of BootClock; zero and less: at once
};

[[noreturn]] void end_with(pid_t group) {
    if (group > 0) ::kill(-group, SIGKILL);
    ::_exit(0);
}

// The end of the group that is watched, and the arrival of orders.
class GuardProcess {
public:
    explicit GuardProcess(int orders)
        : orders_{orders}, timer_{::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)} {}

    [[noreturn]] void run() {
        std::array<pollfd, 2> waits{pollfd{orders_, POLLIN, 0}, pollfd{timer_, POLLIN, 0}};
        while (true) {
            if (::poll(waits.data(), waits.size(), -1) < 0) continue;
            if (waits[0].revents != 0) take_order();
            // A renewal that came as late as the end counts.
            if (waits[0].revents == 0 && waits[1].revents != 0) kill_group();
        }
    }

private:
    void take_order() {
        Order order;
        const auto got = ::read(orders_, &order, sizeof order);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
        if (got != static_cast<ssize_t>(sizeof order)) end_with(group_);
        group_ = order.group;
        set_timer(group_ > 0 ? order.until_ns : 0);
    }
    void set_timer(std::int64_t until_ns) const {
        constexpr std::int64_t second = 1'000'000'000;
        itimerspec at{};
        at.it_value = {until_ns / second, until_ns % second};
        // Zero would disarm the timer.
        if (group_ > 0 && until_ns <= 0) at.it_value = {0, 1};
        ::timerfd_settime(timer_, TFD_TIMER_ABSTIME, &at, nullptr);
    }
    void kill_group() {
        if (group_ > 0) ::kill(-group_, SIGKILL);
        set_timer(0);
        group_ = 0;
    }

    int orders_;
    int timer_;
    pid_t group_ = 0;
};

// The guard has nothing to do with the terminal, with signals, or with the files of the caller. Its
// socket tells it when the parent has ended.
[[noreturn]] void run_guard(int orders) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_NAME, "mortise-guard");
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU})
        ::signal(signal, SIG_IGN);  // NOLINT(cert-err33-c)
    constexpr int kept = 3;
    if (orders != kept) ::dup2(orders, kept);
    for (int descriptor = 0; descriptor < kept; ++descriptor)
        ::close(descriptor);
    ::closefrom(kept + 1);
    GuardProcess{kept}.run();
}

}  // namespace

Guard::Guard() {
    if (const auto failed = start())
        throw std::system_error{failed, "cannot start the guard of the command"};
}

Guard::~Guard() {
    forget();
    end();
}

// The child of a process with several threads may only call what is safe in a signal handler, and
// the guard calls nothing else.
std::error_code Guard::start() noexcept {
    std::array<int, 2> ends{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return {errno, std::system_category()};
    const auto pid = ::fork();
    if (pid == 0) run_guard(ends[0]);
    const std::error_code failed{pid < 0 ? errno : 0, std::system_category()};
    ::close(ends[0]);
    if (failed) {
        ::close(ends[1]);
    } else {
        pid_ = pid;
        orders_ = ends[1];
    }
    return failed;
}

void Guard::end() noexcept {
    if (pid_ == 0) return;
    ::close(orders_);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    orders_ = -1;
}

void Guard::watch(pid_t group, BootClock::time_point until) noexcept {
    group_ = group;
    until_ = until;
    const Order order{group, until.time_since_epoch().count()};
    // An order that does not fit is followed by others.
    if (orders_ >= 0)
        static_cast<void>(::send(orders_, &order, sizeof order, MSG_NOSIGNAL | MSG_DONTWAIT));
}

// A guard that was stopped would not kill anything either. It takes no order to its end.
std::error_code Guard::keep() noexcept {
    siginfo_t about{};
    constexpr int what = WEXITED | WSTOPPED | WNOHANG | WNOWAIT;
    const bool works = pid_ != 0 && ::waitid(P_PID, static_cast<id_t>(pid_), &about, what) == 0 &&
                       about.si_pid == 0;
    if (works) return {};
    if (pid_ != 0) ::kill(pid_, SIGKILL);
    end();
    if (const auto failed = start()) return failed;
    watch(group_, until_);
    return {};
}

}  // namespace mortise::cli
