#pragma once

#include <chrono>
#include <csignal>

namespace mortise::cli {

// What is asked of a node by signals. Keeps them off every thread that is started while it lives,
// to be asked for here. One that was ignored when the program started stays ignored (nohup), but
// for SIGTERM.
class NodeSignals {
public:
    // SIGINT and SIGTERM ask for the end. So does SIGHUP when the terminal of the program is gone;
    // otherwise it asks for the files to be read again.
    enum class Asked { nothing, end, reload };

    NodeSignals();
    // What came again meanwhile is forgotten: it asked for the end that has come.
    ~NodeSignals();
    NodeSignals(const NodeSignals&) = delete;
    NodeSignals& operator=(const NodeSignals&) = delete;

    // What came, or comes in this time. The end stays asked for.
    [[nodiscard]] Asked wait_for(std::chrono::nanoseconds time);

private:
    [[nodiscard]] bool has_lost_terminal() const;

    sigset_t set_{};
    sigset_t former_{};
    bool had_terminal_ = false;
    bool ends_ = false;
};

}  // namespace mortise::cli
