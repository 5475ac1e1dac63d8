#include "tools/mortise/run/supervisor.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include "tools/mortise/exit_code.hpp"

namespace mortise::cli {

namespace {

using namespace run_effect;

constexpr int lost = static_cast<int>(ExitCode::lost);
// The codes of a shell.
constexpr int signal_base = 128;
constexpr int not_executable = 126;
constexpr int not_found = 127;

bool asks_to_end(int signal) {
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

bool wants_terminal(int signal) {
    return signal == SIGTTIN || signal == SIGTTOU;
}

int code_of(ProcessEnd end) {
    return end.by_signal ? signal_base + end.number : end.number;
}

}  // namespace

RunEffects Supervisor::granted(Nanoseconds left) {
    if (phase_ != Phase::waiting) return {};
    if (left <= Nanoseconds::zero())
        return finish(lost, {Say{"the lock was lost before the command began"}});
    phase_ = Phase::runs;
    return {StartCommand{}};
}

RunEffects Supervisor::not_started(int error) {
    const bool is_missing = error == ENOENT || error == ENOTDIR;
    const auto why = std::error_code{error, std::system_category()}.message();
    return finish(is_missing ? not_found : not_executable,
                  {Say{"cannot execute the command: " + why}});
}

RunEffects Supervisor::clock(Nanoseconds left) {
    RunEffects effects;
    judge_lease(left, effects);
    return effects;
}

// A command that is stopped receives no SIGTERM before it continues.
void Supervisor::judge_lease(Nanoseconds left, RunEffects& effects) {
    if (has_command() && left <= Nanoseconds::zero()) {
        phase_ = Phase::is_killed;
        effects.emplace_back(Kill{});
    } else if (phase_ == Phase::runs && left <= grace_) {
        phase_ = Phase::is_asked;
        command_is_stopped_ = false;
        effects.insert(effects.end(),
                       {SendSignal{SIGTERM}, SendSignal{SIGCONT},
                        Say{"the lock is about to be lost: the command is asked to end"}});
    }
}

// Nothing more can be done about a command that cannot be killed, so a signal ends the wait for it.
RunEffects Supervisor::signalled(int signal, Nanoseconds left) {
    if (phase_ == Phase::waiting) {
        if (asks_to_end(signal)) return finish(signal_base + signal);
        return signal == SIGTSTP ? RunEffects{StopOurselves{}} : RunEffects{};
    }
    RunEffects effects;
    judge_lease(left, effects);
    if (phase_ == Phase::is_killed && cannot_be_killed_ && asks_to_end(signal))
        return finish(lost, std::move(effects));
    if (!has_command()) return effects;
    if (signal == SIGCONT)
        continue_command(effects);
    else
        pass_on(signal, effects);
    return effects;
}

// A command that is stopped receives it when it continues, as a shell does it for its jobs.
void Supervisor::pass_on(int signal, RunEffects& effects) {
    effects.emplace_back(SendSignal{signal});
    if (asks_to_end(signal) && std::exchange(command_is_stopped_, false))
        effects.emplace_back(SendSignal{SIGCONT});
}

void Supervisor::continue_command(RunEffects& effects) {
    if (std::exchange(is_stopped_, false) && has_terminal_) effects.emplace_back(GiveTerminal{});
    command_is_stopped_ = false;
    effects.emplace_back(SendSignal{SIGCONT});
}

// The key had no effect on this process, so the command continues as well. A command that waits for
// the terminal of another process stays stopped: it would be stopped again at once.
RunEffects Supervisor::not_stopped(Nanoseconds left) {
    RunEffects effects;
    judge_lease(left, effects);
    if (has_command() && is_stopped_ && !waits_for_terminal_) continue_command(effects);
    return effects;
}

RunEffects Supervisor::kill_sent(int error) {
    cannot_be_killed_ = error == EPERM;
    return {Say{cannot_be_killed_ ? "the lock is lost, and the command cannot be killed: it runs "
                                    "as another user"
                                  : "the lock is lost: the command is killed"}};
}

// A command that wants the terminal gets it. One that was stopped at the terminal stops with all
// its processes, and this process as well, as the shell expects. Any other stop is left alone:
// nobody would continue this process, and the lock is needed until the command has ended.
RunEffects Supervisor::stopped(int signal, Terminal terminal, Nanoseconds left) {
    RunEffects effects;
    judge_lease(left, effects);
    command_is_stopped_ = true;
    if (!has_command() || terminal == Terminal::none) return effects;
    if (wants_terminal(signal) && terminal == Terminal::ours) {
        has_terminal_ = true;
        command_is_stopped_ = false;
        effects.insert(effects.end(), {GiveTerminal{}, SendSignal{SIGCONT}});
    } else if (signal == SIGTSTP || wants_terminal(signal)) {
        const StopOurselves stop{has_terminal_};
        has_terminal_ = has_terminal_ || wants_terminal(signal);
        waits_for_terminal_ = wants_terminal(signal);
        is_stopped_ = true;
        effects.insert(effects.end(), {SendSignal{SIGSTOP}, TakeTerminal{}, stop});
    }
    return effects;
}

// What is left of a command that was asked to end has no time left either.
RunEffects Supervisor::ended(ProcessEnd end, Nanoseconds left) {
    RunEffects effects;
    if (left <= Nanoseconds::zero()) judge_lease(left, effects);
    switch (phase_) {
        case Phase::runs: return finish(code_of(end));
        case Phase::is_asked: return finish(lost, {SendSignal{SIGKILL}});
        case Phase::is_killed: return finish(lost, std::move(effects));
        case Phase::waiting:
        case Phase::is_over: break;
    }
    return {};
}

RunEffects Supervisor::finish(int code, RunEffects effects) {
    phase_ = Phase::is_over;
    if (has_terminal_) effects.emplace_back(TakeTerminal{});
    effects.emplace_back(Finish{code});
    return effects;
}

Supervisor::Nanoseconds Supervisor::look_after(Nanoseconds left) const {
    switch (phase_) {
        // The guard is told of a renewal long before the time that it knows.
        case Phase::runs: return std::max(std::min(left - grace_, left / 2), Nanoseconds::zero());
        case Phase::is_asked: return std::max(left, Nanoseconds::zero());
        case Phase::waiting:
        case Phase::is_killed:
        case Phase::is_over: break;
    }
    return Nanoseconds::max();
}

}  // namespace mortise::cli
