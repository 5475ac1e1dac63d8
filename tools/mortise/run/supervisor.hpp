// What `mortise run` does between the grant of its lock and the end of its command: events come in,
// effects go out. It knows no process, clock or signal handler; supervised_run.cpp has these.
//
// The command is asked to end when the lease has little time left, and is killed when the lease is
// over. An event that may have waited carries the time that is left of the lease, so nothing is
// decided by an old value.
#pragma once

#include <chrono>
#include <string>
#include <variant>
#include <vector>

namespace mortise::cli {

// How a process ended, as wait(2) reports it.
struct ProcessEnd {
    bool by_signal = false;
    int number = 0;  // the signal, or the exit code
};

// Which process group has the terminal, as far as this process is concerned.
enum class Terminal {
    none,  // there is no controlling terminal
    ours,  // this process group or the command's is in the foreground
    others,
};

namespace run_effect {

struct StartCommand {};
// To the process group of the command.
struct SendSignal {
    int number = 0;
    friend bool operator==(const SendSignal&, const SendSignal&) = default;
};
// SIGKILL, because the lock is lost; kill_sent() is told what came of it.
struct Kill {
    friend bool operator==(const Kill&, const Kill&) = default;
};
// The command's process group becomes that in the foreground, or ours does again.
struct GiveTerminal {};
struct TakeTerminal {};
// Stops this process as SIGTSTP does, and with it the other processes of its group if the terminal
// did not tell them: the command had it. not_stopped() is told if the system did not do that.
struct StopOurselves {
    bool whole_group = false;
    friend bool operator==(const StopOurselves&, const StopOurselves&) = default;
};
struct Say {
    std::string line;
};
// The run is over with this exit code; the lock is not needed any more.
struct Finish {
    int code = 0;
};

}  // namespace run_effect

using RunEffect = std::variant<run_effect::StartCommand, run_effect::SendSignal, run_effect::Kill,
                               run_effect::GiveTerminal, run_effect::TakeTerminal,
                               run_effect::StopOurselves, run_effect::Say, run_effect::Finish>;
using RunEffects = std::vector<RunEffect>;

class Supervisor {
public:
    using Nanoseconds = std::chrono::nanoseconds;

    // The command is asked to end `grace` before the end of its lease.
    explicit Supervisor(Nanoseconds grace) : grace_{grace} {}

    // --- Events. The effects are to be carried out in their order. `left` is the time until the
    // lease ends if nothing renews it; zero or less: the lock is lost.

    // The lock was granted.
    [[nodiscard]] RunEffects granted(Nanoseconds left);
    // The command could not be executed, with this error of the system.
    [[nodiscard]] RunEffects not_started(int error);
    // Some time has passed, or the lock was lost.
    [[nodiscard]] RunEffects clock(Nanoseconds left);
    // This process received a signal.
    [[nodiscard]] RunEffects signalled(int signal, Nanoseconds left);
    // The command was stopped by a signal.
    [[nodiscard]] RunEffects stopped(int signal, Terminal terminal, Nanoseconds left);
    // This process was not stopped: nobody would continue it (its process group is orphaned).
    [[nodiscard]] RunEffects not_stopped(Nanoseconds left);
    // The command was sent SIGKILL; an error of the system, or 0.
    [[nodiscard]] RunEffects kill_sent(int error);
    // If the lease has ended as well, it is unknown which came first, and the lock counts as lost.
    [[nodiscard]] RunEffects ended(ProcessEnd end, Nanoseconds left);

    // clock() is to be called after this time at the latest; max() if it need not be called.
    [[nodiscard]] Nanoseconds look_after(Nanoseconds left) const;

private:
    enum class Phase {
        waiting,  // for the lock
        runs,
        is_asked,   // the command was asked to end, since the lease is about to end
        is_killed,  // the lease has ended
        is_over,
    };

    void judge_lease(Nanoseconds left, RunEffects& effects);
    void pass_on(int signal, RunEffects& effects);
    void continue_command(RunEffects& effects);
    [[nodiscard]] bool has_command() const {
        return phase_ == Phase::runs || phase_ == Phase::is_asked;
    }
    RunEffects finish(int code, RunEffects effects = {});

    Nanoseconds grace_;
    Phase phase_ = Phase::waiting;
    bool cannot_be_killed_ = false;    // the command is another user
    bool command_is_stopped_ = false;  // as far as it is known
    bool waits_for_terminal_ = false;  // it was stopped because others have the terminal
    bool is_stopped_ = false;          // this process stopped itself together with the command
    bool has_terminal_ = false;        // the command was given the terminal
};

}  // namespace mortise::cli
