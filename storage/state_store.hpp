// Where the applied state lives, behind the log: what a crash takes from it the log replays.
// Blocks; calls come from one thread at a time, but not the log's.
#pragma once

#include <span>
#include <vector>

#include "core/leases/countdowns.hpp"
#include "core/node/state_delta.hpp"
#include "storage/errors.hpp"

namespace mortise::storage {

using StateWrite = core::StateDelta;

class StateStore {
public:
    virtual ~StateStore() = default;

    // Onto what was written before. Atomic, but durable only with the next flush. Requires that the
    // log has durably what the state then contains. Any error is final, as with the log.
    virtual Result<void> write(const StateWrite& write) = 0;
    // Blocks until everything written is durable, and answers up to where that is.
    virtual Result<core::LogIndex> flush() = 0;
    // Replaces those saved before. Survives the process, but maybe not the machine (S4).
    virtual Result<void> save_countdowns(std::span<const core::SavedCountdown> countdowns) = 0;
};

}  // namespace mortise::storage
