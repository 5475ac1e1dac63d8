// The command of `mortise run`: a process in a process group of its own.
#pragma once

#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "tools/mortise/run/supervisor.hpp"

namespace mortise::cli {

struct CommandOrder {
    std::vector<std::string> words;                                // at least one
    std::vector<std::pair<std::string, std::string>> environment;  // in addition to our own
    sigset_t mask{};  // the blocked signals, as this program found them
    // Called with the process group before the program is executed in it, and with 0 if that is
    // impossible, before the number may belong to others.
    std::function<void(pid_t group)> announce;
};

class CommandProcess {
public:
    // Returns when the program is being executed; it dies with this thread. Throws
    // std::system_error with the code of the system if it cannot be executed.
    explicit CommandProcess(const CommandOrder& order);
    CommandProcess(const CommandProcess&) = delete;
    CommandProcess& operator=(const CommandProcess&) = delete;

    [[nodiscard]] pid_t group() const noexcept { return pid_; }
    // Returns 0, or errno: EPERM if the command has become another user.
    int send(int signal) const noexcept;
    // The signal by which it was stopped since the last call.
    [[nodiscard]] std::optional<int> take_stop() const;
    // It has ended; it is still a zombie, so its number belongs to no other process.
    [[nodiscard]] std::optional<ProcessEnd> look_at_end() const;
    // Call it after look_at_end() had an answer, and nothing else afterwards.
    void forget() noexcept;

private:
    pid_t pid_ = 0;
};

// The controlling terminal of this process, if it has one.
class ControllingTerminal {
public:
    ControllingTerminal();
    ~ControllingTerminal();
    ControllingTerminal(const ControllingTerminal&) = delete;
    ControllingTerminal& operator=(const ControllingTerminal&) = delete;

    [[nodiscard]] Terminal whose(pid_t command) const;
    // Puts the group in the foreground, if `from` is there now.
    void pass(pid_t from, pid_t to) const;

private:
    int descriptor_;
};

}  // namespace mortise::cli
