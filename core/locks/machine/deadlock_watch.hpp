// Deadlocks between lockers (S33): when to look for a wait cycle, and which request fails then.
//
// A command can complete a cycle only if it makes a locker wait for which others wait, or puts a
// request in front of others; if it grants something to a locker that waits elsewhere; or if it
// changes whose turn it is. Most commands do none of this, and then nothing is searched.
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
    // The present command made this operation, which is queued.
    void queued(OperationId operation) { asked_ = operation; }
    [[nodiscard]] OperationId asked() const { return asked_; }
    // The present command granted the locker a hold, or a stronger mode.
    void let_in(LockerId locker) { let_in_.push_back(locker); }
    // Called before the next command.
    void forget();

    struct Deadlock {
        OperationId victim;  // the request that is to be refused
        std::vector<CycleStep> cycle;
    };
    // Returns a cycle that the present command completed, if there is one. Adds the cost of the
    // search to `steps`.
    [[nodiscard]] std::optional<Deadlock> find(const WaitFinder& waits, std::size_t& steps) const;

private:
    void add_suspects(const WaitFinder& waits, DeadlockSearch& search, std::size_t& steps) const;

    OperationId asked_;
    std::vector<LockerId> let_in_;
};

// For a locker or a session with more operations it is not checked whether anybody waits for them.
constexpr std::size_t operations_looked_at = 1'024;

}  // namespace mortise::core
