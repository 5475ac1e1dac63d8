// Runs a command while a lock is held (supervisor.hpp), with real processes and signals.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "tools/mortise/run/grant.hpp"
#include "tools/mortise/run/guard.hpp"
#include "tools/mortise/run/run_signals.hpp"

namespace mortise::cli {

class SupervisedRun {
public:
    // Blocks until it has the lock, until that is impossible, or until a stop is requested. It
    // throws what ends the program instead.
    using Acquire = std::function<Grant(std::stop_token)>;

    // Create it before the process has other threads. Throws std::system_error.
    SupervisedRun() = default;

    // Acquires the lock on another thread, executes the command, and releases the lock. Returns the
    // exit code of `mortise run`; throws what `acquire` throws. Call it once, on the main thread.
    [[nodiscard]] int run(const std::vector<std::string>& command, std::chrono::nanoseconds grace,
                          const Acquire& acquire);

private:
    Guard guard_;
    RunSignals signals_;
};

}  // namespace mortise::cli
