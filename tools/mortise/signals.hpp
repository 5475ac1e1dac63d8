#pragma once

#include <chrono>
#include <csignal>

namespace mortise::cli {

// Keeps SIGINT and SIGTERM off every thread that is started while it lives, to be asked for here.
class EndSignals {
public:
    EndSignals();
    ~EndSignals();
    EndSignals(const EndSignals&) = delete;
    EndSignals& operator=(const EndSignals&) = delete;

    // True when one came, or comes in this time.
    [[nodiscard]] bool wait_for(std::chrono::nanoseconds time);

private:
    sigset_t set_{};
    sigset_t former_{};
    bool came_ = false;
};

}  // namespace mortise::cli
