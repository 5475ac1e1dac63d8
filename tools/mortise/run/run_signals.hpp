// The signals that `mortise run` passes on, as events that its main thread waits for.
#pragma once

#include <chrono>
#include <csignal>
#include <optional>

namespace mortise::cli {

// These signals are blocked in this thread and in threads that it starts, until the process has
// ended: a signal that comes late must not change its exit code. A signal that was ignored when the
// program started stays ignored.
class RunSignals {
public:
    // Throws std::system_error.
    RunSignals();
    ~RunSignals();
    RunSignals(const RunSignals&) = delete;
    RunSignals& operator=(const RunSignals&) = delete;

    // The blocked signals before, for the command.
    [[nodiscard]] const sigset_t& before() const noexcept { return before_; }
    // Returns a signal; or nothing after wake() or this time, and perhaps earlier. The time counts
    // while the machine sleeps.
    [[nodiscard]] std::optional<int> wait_for(std::chrono::nanoseconds time);
    // Stops this process, or its whole group, as SIGTSTP does. Returns true when it was continued,
    // and false if it was not stopped: the system ignores that signal where nobody would continue
    // the process.
    [[nodiscard]] static bool stop(bool whole_group);
    // Ends the present or the next wait. May be called from any thread.
    void wake() const noexcept;

private:
    [[nodiscard]] std::optional<int> take() const;

    sigset_t before_{};
    int signals_ = -1;
    int wakes_ = -1;
    int timer_ = -1;
};

}  // namespace mortise::cli
