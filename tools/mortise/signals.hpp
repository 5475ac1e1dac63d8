#pragma once

#include <chrono>
#include <csignal>

namespace mortise::cli {

// Receives the signals that control a node. They are blocked in this thread and in every thread
// that it starts, and are read here. They stay blocked until the process has ended: a second
// request to end, while the program returns from main(), must not change its exit code. A signal
// that was ignored when the program started stays ignored (nohup), except SIGTERM.
class NodeSignals {
public:
    // SIGINT and SIGTERM request the end. So does SIGHUP if the terminal of the program is gone;
    // otherwise it requests that the files are read again.
    enum class Asked { nothing, end, reload };

    NodeSignals();
    NodeSignals(const NodeSignals&) = delete;
    NodeSignals& operator=(const NodeSignals&) = delete;

    // Returns the request that was received, or that is received within this time. A request to end
    // stays pending.
    [[nodiscard]] Asked wait_for(std::chrono::nanoseconds time);

private:
    [[nodiscard]] bool has_lost_terminal() const;

    sigset_t set_{};
    bool had_terminal_ = false;
    bool ends_ = false;
};

}  // namespace mortise::cli
