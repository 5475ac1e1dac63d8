// The lock of `mortise run`, or what else it runs under.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "tools/mortise/run/grant.hpp"
#include <mortise/duration.hpp>
#include <mortise/node.hpp>

namespace mortise::cli {

// Permits of a semaphore.
struct Permits {
    std::uint32_t number = 1;
    std::uint32_t limit = 1;  // if the semaphore does not exist yet

    friend bool operator==(const Permits&, const Permits&) = default;
};

struct RunLock {
    std::vector<std::string> names{};  // one, or several that are acquired together
    bool is_shared = false;
    // If one of these is set, the only name is a semaphore or an election.
    std::optional<Permits> permits{};
    std::optional<std::string> leads_with{};  // the value of the candidate
    Duration wait = Duration::max();          // zero: one attempt
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
[[nodiscard]] Grant acquire_for_run(Node& node, const RunLock& lock, const std::stop_token& cancel);

}  // namespace mortise::cli
