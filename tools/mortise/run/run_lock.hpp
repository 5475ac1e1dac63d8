// The lock of `mortise run`.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include <mortise/duration.hpp>
#include <mortise/hold.hpp>
#include <mortise/node.hpp>

namespace mortise::cli {

struct RunLock {
    std::string name{};
    bool is_shared = false;
    Duration wait = Duration::max();  // zero: one attempt
    Duration max_hold = Duration::max();
    Duration min_hold = Duration::zero();
    std::string label{};
};

// Blocks until the lock is granted. Throws Failure with ExitCode::taken and one line that says who
// has it, if others keep it for longer than `wait`; LockError for any other reason.
[[nodiscard]] Hold acquire_for_run(Node& node, const RunLock& lock, std::stop_token cancel);

}  // namespace mortise::cli
