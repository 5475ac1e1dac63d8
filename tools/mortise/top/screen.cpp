#include "tools/mortise/top/screen.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace mortise::cli {

namespace {

// The alternate screen, without a cursor and without a break of long lines; and back.
constexpr std::string_view begin_screen = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr std::string_view end_screen = "\x1b[?7h\x1b[?25h\x1b[?1049l";

// What does not fit is waited for: a terminal takes it.
void write_all(std::string_view text) {
    while (!text.empty()) {
        const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

sigset_t signals_of_a_screen() {
    sigset_t signals{};
    ::sigemptyset(&signals);
    for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH})
        ::sigaddset(&signals, each);
    return signals;
}

}  // namespace

bool has_screen() {
    const char* const term = std::getenv("TERM");
    return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1 && term != nullptr &&
           std::string_view{term} != "dumb" && *term != '\0';
}

ScreenSize screen_size() {
    winsize size{};
    const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
    return is_known ? ScreenSize{size.ws_col, size.ws_row} : ScreenSize{};
}

void block_signals_of_a_screen() {
    const auto signals = signals_of_a_screen();
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

Screen::Screen() {
    const auto signals = signals_of_a_screen();
    signals_ = ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals_ < 0) throw std::system_error{errno, std::generic_category(), "signalfd"};
    ::tcgetattr(STDIN_FILENO, &former_);
    enter();
}

Screen::~Screen() {
    leave();
    ::close(signals_);
}

// Keys arrive at once and are not echoed. Those that send signals still do.
void Screen::enter() {
    auto raw = former_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    write_all(begin_screen);
}

void Screen::leave() {
    write_all(end_screen);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &former_);
}

// In one piece, line over line, so that nothing flickers.
void Screen::draw(const std::vector<std::string>& lines) {
    std::string text = "\x1b[H";
    for (std::size_t at = 0; at < lines.size(); ++at)
        text += (at == 0 ? "" : "\n") + lines[at] + "\x1b[K";
    write_all(text + "\x1b[J");
}

Screen::News Screen::wait_for(std::chrono::milliseconds time) {
    std::array<pollfd, 2> ready{{{signals_, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), static_cast<int>(time.count())) <= 0)
        return News::nothing;
    if (ready[0].revents != 0) return read_signal();
    return read_key();
}

Screen::News Screen::read_signal() {
    signalfd_siginfo came{};
    if (::read(signals_, &came, sizeof came) != sizeof came) return News::nothing;
    switch (static_cast<int>(came.ssi_signo)) {
        case SIGWINCH: return News::resized;
        case SIGTSTP: stop(); return News::resized;
        default: return News::asked_to_end;
    }
}

// At the end of the input there is nobody who could ask for the end.
Screen::News Screen::read_key() {
    return ::read(STDIN_FILENO, &key_, 1) == 1 ? News::key : News::asked_to_end;
}

void Screen::stop() {
    leave();
    ::raise(SIGSTOP);
    enter();
}

}  // namespace mortise::cli
