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
    // How long one attempt may take if the cluster does not answer.
    Duration patience = std::chrono::seconds{10};
    Duration max_hold = Duration::max();
    Duration min_hold = Duration::zero();
    std::string label{};
};

// Blocks until the lock is granted. A wait that ends with the session, or because the cluster is
// away, begins anew. Throws Failure, with one line: with ExitCode::taken, which says who has it, if
// others keep it for longer than `wait`; with ExitCode::unavailable if the cluster was away at the
// end of that time. Throws LockError for any other reason.
[[nodiscard]] Hold acquire_for_run(Node& node, const RunLock& lock, const std::stop_token& cancel);

}  // namespace mortise::cli
