#include "tools/mortise/signals.hpp"

#include <ctime>
#include <thread>

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "tools/mortise/say.hpp"

namespace mortise::cli {

namespace {

using namespace std::chrono_literals;

// The time between a hang-up and the moment when the terminal is gone: the kernel may send the
// signal first.
constexpr auto hang_up_takes = 500ms;

timespec in_timespec(std::chrono::nanoseconds time) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
    return {seconds.count(), (time - seconds).count()};
}

bool is_ignored(int signal) {
    struct sigaction action {};
    return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

bool has_terminal() {
    const int terminal = ::open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (terminal >= 0) ::close(terminal);
    return terminal >= 0;
}

}  // namespace

NodeSignals::NodeSignals() : had_terminal_{has_terminal()} {
    ::sigemptyset(&set_);
    ::sigaddset(&set_, SIGTERM);
    for (const int signal : {SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) {
        if (!is_ignored(signal)) ::sigaddset(&set_, signal);
    }
    ::pthread_sigmask(SIG_BLOCK, &set_, nullptr);
}

NodeSignals::Asked NodeSignals::wait_for(std::chrono::nanoseconds time) {
    if (ends_) return Asked::end;
    const auto limit = in_timespec(time);
    switch (const int came = ::sigtimedwait(&set_, nullptr, &limit)) {
        case SIGINT:
        case SIGTERM: ends_ = true; return Asked::end;
        case SIGHUP: ends_ = has_lost_terminal(); return ends_ ? Asked::end : Asked::reload;
        case SIGUSR1:
        case SIGUSR2:
            say(came == SIGUSR1 ? "SIGUSR1 has no effect on a node"
                                : "SIGUSR2 has no effect on a node");
            return Asked::nothing;
        default: return Asked::nothing;
    }
}

bool NodeSignals::has_lost_terminal() const {
    if (!had_terminal_) return false;
    const auto until = std::chrono::steady_clock::now() + hang_up_takes;
    while (has_terminal()) {
        if (std::chrono::steady_clock::now() >= until) return false;
        std::this_thread::sleep_for(20ms);
    }
    return true;
}

}  // namespace mortise::cli
