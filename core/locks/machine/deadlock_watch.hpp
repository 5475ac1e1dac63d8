// Deadlocks between lockers (S33): when to look for a wait cycle, and which request fails then.
//
// A command can complete a cycle only if it makes a locker wait for which others wait, or puts
// somebody in front of others; if it gives more to a locker that waits elsewhere; or if it passes
// the turn on. Most commands do none of this, and cost nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/locks/deadlock/deadlocks.hpp"
#include "core/locks/deadlock/waits_for.hpp"

namespace mortise::core {

class DeadlockWatch {
public:
    // This command made that operation, and it is queued.
    void queued(OperationId operation) { asked_ = operation; }
    [[nodiscard]] OperationId asked() const { return asked_; }
    // This command gave more, or stronger, holds to that locker.
    void let_in(LockerId locker) { let_in_.push_back(locker); }
    // The next command begins.
    void forget();

    struct Deadlock {
        OperationId victim;  // the request that is to be refused
        std::vector<CycleStep> cycle;
    };
    // What this command completed, if anything. Counts the steps of the search.
    [[nodiscard]] std::optional<Deadlock> find(const WaitFinder& waits, std::size_t& steps) const;

private:
    void add_suspects(const WaitFinder& waits, DeadlockSearch& search, std::size_t& steps) const;

    OperationId asked_;
    std::vector<LockerId> let_in_;
};

// For a locker or a session with more, it is not checked whether anybody waits for them.
constexpr std::size_t operations_looked_at = 1'024;

}  // namespace mortise::core
