#pragma once

#include <chrono>
#include <csignal>

namespace mortise::cli {

// What is asked of a node by signals. Keeps them off this thread and every one that it starts, to
// be asked for here. That lasts until the process is gone: an end that is asked for once more while
// the program returns from main() must not change its exit code. One that was ignored when the
// program started stays ignored (nohup), but for SIGTERM.
class NodeSignals {
public:
    // SIGINT and SIGTERM ask for the end. So does SIGHUP when the terminal of the program is gone;
    // otherwise it asks for the files to be read again.
    enum class Asked { nothing, end, reload };

    NodeSignals();
    NodeSignals(const NodeSignals&) = delete;
    NodeSignals& operator=(const NodeSignals&) = delete;

    // What came, or comes in this time. The end stays asked for.
    [[nodiscard]] Asked wait_for(std::chrono::nanoseconds time);

private:
    [[nodiscard]] bool has_lost_terminal() const;

    sigset_t set_{};
    bool had_terminal_ = false;
    bool ends_ = false;
};

}  // namespace mortise::cli
