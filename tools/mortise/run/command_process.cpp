#include "tools/mortise/run/command_process.hpp"

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace mortise::cli {

namespace {

// The words and the environment as exec wants them, made before the fork: afterwards nothing may be
// allocated.
class Arguments {
public:
    explicit Arguments(const CommandOrder& order) : words_{order.words} {
        for (char** variable = ::environ; *variable != nullptr; ++variable) {
            const std::string text = *variable;
            if (!is_replaced(text, order)) variables_.push_back(text);
        }
        for (const auto& [name, value] : order.environment)
            variables_.push_back(std::string{name}.append("=").append(value));
        point_to(words_, word_pointers_);
        point_to(variables_, variable_pointers_);
    }
    [[nodiscard]] char* const* words() { return word_pointers_.data(); }
    [[nodiscard]] char* const* environment() { return variable_pointers_.data(); }

private:
    static bool is_replaced(const std::string& variable, const CommandOrder& order) {
        for (const auto& [name, value] : order.environment)
            if (variable.starts_with(name + "=")) return true;
        return false;
    }
    static void point_to(std::vector<std::string>& strings, std::vector<char*>& pointers) {
        for (auto& each : strings)
            pointers.push_back(each.data());
        pointers.push_back(nullptr);
    }

    std::vector<std::string> words_;
    std::vector<std::string> variables_;
    std::vector<char*> word_pointers_;
    std::vector<char*> variable_pointers_;
};

// Two pipes between the parent and the child. Both ends of each are closed on exec.
struct Pipes {
    Pipes() {
        if (::pipe2(report.data(), O_CLOEXEC) != 0 || ::pipe2(go.data(), O_CLOEXEC) != 0) {
            const int error = errno;
            close_all();
            throw std::system_error{error, std::system_category(), "cannot make a pipe"};
        }
    }
    ~Pipes() { close_all(); }
    Pipes(const Pipes&) = delete;
    Pipes& operator=(const Pipes&) = delete;

    static void close_end(int& end) {
        if (end >= 0) ::close(std::exchange(end, -1));
    }
    void close_all() {
        for (int* end : {&report[0], &report[1], &go[0], &go[1]})
            close_end(*end);
    }

    std::array<int, 2> report{-1, -1};  // why exec failed
    std::array<int, 2> go{-1, -1};      // a byte: the child may begin
};

// The child does not begin before its group is announced, so nothing of it can be forgotten.
[[noreturn]] void become(Arguments& arguments, const CommandOrder& order, pid_t parent,
                         Pipes& pipes) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);  // it has ended already
    ::close(pipes.go[1]);
    char go = 0;
    if (::read(pipes.go[0], &go, 1) != 1) ::_exit(1);
    // This program ignores these; a signal that was ignored before stays so.
    for (const int signal : {SIGPIPE, SIGXFSZ})
        ::signal(signal, SIG_DFL);  // NOLINT(cert-err33-c)
    ::sigprocmask(SIG_SETMASK, &order.mask, nullptr);
    ::execvpe(arguments.words()[0], arguments.words(), arguments.environment());
    const int error = errno;
    [[maybe_unused]] const auto sent = ::write(pipes.report[1], &error, sizeof error);
    ::_exit(1);
}

int reported_error(int report) {
    int error = 0;
    ssize_t got = 0;
    do {
        got = ::read(report, &error, sizeof error);
    } while (got < 0 && errno == EINTR);
    return got == static_cast<ssize_t>(sizeof error) ? error : 0;
}

void reap(pid_t pid) noexcept {
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
}

siginfo_t look(pid_t pid, int what) {
    siginfo_t about{};
    if (::waitid(P_PID, static_cast<id_t>(pid), &about, what | WNOHANG) != 0) about.si_pid = 0;
    return about;
}

}  // namespace

CommandProcess::CommandProcess(const CommandOrder& order) {
    Arguments arguments{order};
    Pipes pipes;
    const auto parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) become(arguments, order, parent, pipes);
    if (pid_ < 0) throw std::system_error{errno, std::system_category(), "cannot fork"};
    ::setpgid(pid_, pid_);
    order.announce(pid_);
    [[maybe_unused]] const auto sent = ::write(pipes.go[1], "", 1);
    Pipes::close_end(pipes.report[1]);
    const int error = reported_error(pipes.report[0]);
    if (error == 0) return;
    order.announce(0);
    reap(pid_);
    throw std::system_error{error, std::system_category(), order.words.front()};
}

// The first process may have moved to another group, and SIGKILL may come twice.
int CommandProcess::send(int signal) const noexcept {
    const int group_error = ::kill(-pid_, signal) == 0 ? 0 : errno;
    if (signal != SIGKILL) return group_error;
    return ::kill(pid_, signal) == 0 ? 0 : errno;
}

std::optional<int> CommandProcess::take_stop() const {
    const auto about = look(pid_, WSTOPPED);
    return about.si_pid == pid_ ? std::optional{about.si_status} : std::nullopt;
}

std::optional<ProcessEnd> CommandProcess::look_at_end() const {
    const auto about = look(pid_, WEXITED | WNOWAIT);
    if (about.si_pid != pid_) return std::nullopt;
    return ProcessEnd{about.si_code != CLD_EXITED, about.si_status};
}

void CommandProcess::forget() noexcept {
    reap(pid_);
}

ControllingTerminal::ControllingTerminal()
    : descriptor_{::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)} {}

ControllingTerminal::~ControllingTerminal() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

Terminal ControllingTerminal::whose(pid_t command) const {
    const auto foreground = descriptor_ >= 0 ? ::tcgetpgrp(descriptor_) : -1;
    if (foreground <= 0) return Terminal::none;
    return foreground == ::getpgrp() || foreground == command ? Terminal::ours : Terminal::others;
}

// The caller blocks SIGTTOU, so a process in the background may do this.
void ControllingTerminal::pass(pid_t from, pid_t to) const {
    if (descriptor_ >= 0 && ::tcgetpgrp(descriptor_) == from) ::tcsetpgrp(descriptor_, to);
}

}  // namespace mortise::cli
