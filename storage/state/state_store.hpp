// Stores the applied state, which may be older than the log: what a crash loses is replayed from
// the log. It blocks; calls come from one thread at a time, which is not the log's.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/leases/countdowns.hpp"
#include "core/node/state_delta.hpp"
#include "storage/base/errors.hpp"

namespace mortise::storage {

using StateWrite = core::StateDelta;

struct StatePage {
    std::vector<core::Row> rows;  // ascending by key; at least one unless done
    bool done = false;            // no rows follow
};

// The state at the time when the view was made, whatever is written later. Its store outlives it,
// and it is used on the thread of the store.
class StateView {
public:
    virtual ~StateView() = default;
    [[nodiscard]] virtual const core::LogId& applied() const = 0;
    [[nodiscard]] virtual const core::Configuration& configuration() const = 0;
    // The rows after that key, or from the first row on; more than one row only within `bytes_max`.
    // Errc::damaged if a row is not what was written.
    [[nodiscard]] virtual Result<StatePage> read(const std::optional<std::string>& after,
                                                 std::size_t bytes_max) = 0;
};

class StateStore {
public:
    virtual ~StateStore() = default;

    // Adds to what was written before. Atomic, but durable only with the next flush. The log must
    // durably have what the state contains afterwards. Any error is final, as for the log.
    virtual Result<void> write(const StateWrite& write) = 0;
    // Blocks until everything written is durable, and returns its index.
    virtual Result<core::LogIndex> flush() = 0;
    // Replaces the countdowns that were saved before. They survive the process, but perhaps not a
    // crash of the machine (S4).
    virtual Result<void> save_countdowns(const core::SavedCountdowns& countdowns) = 0;

    virtual Result<std::unique_ptr<StateView>> view() = 0;

    // Begins to install a whole state from another node, in pieces, beside the state in force; a
    // crash or another begin drops what is not finished. `last` is its last entry, which is not
    // before the applied index here.
    virtual Result<void> begin_install(const core::LogId& last,
                                       const core::Configuration& configuration) = 0;
    // Adds rows with values, each key once.
    virtual Result<void> install(std::span<const core::Row> rows) = 0;
    // Makes it the state, durably. The log must then begin at it or have its last entry; a start
    // that finds neither makes the log begin there (storage/README.md).
    virtual Result<void> finish_install() = 0;
};

}  // namespace mortise::storage
