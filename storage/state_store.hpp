// Where the applied state lives, behind the log: what a crash takes from it the log replays.
// Blocks; calls come from one thread at a time, but not the log's.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/leases/countdowns.hpp"
#include "core/node/state_delta.hpp"
#include "storage/errors.hpp"

namespace mortise::storage {

using StateWrite = core::StateDelta;

struct StatePage {
    std::vector<core::Row> rows;  // ascending by key; at least one unless done
    bool done = false;            // no row is left behind these
};

// The state as it was when the view was made, whatever is written later. Its store outlives it, and
// it is used on the thread of the store.
class StateView {
public:
    virtual ~StateView() = default;
    [[nodiscard]] virtual const core::LogId& applied() const = 0;
    [[nodiscard]] virtual const core::Configuration& configuration() const = 0;
    // What follows that key, or all from the first row on; more than one row only within
    // `bytes_max`. Errc::damaged when a row is not what was written.
    [[nodiscard]] virtual Result<StatePage> read(const std::optional<std::string>& after,
                                                 std::size_t bytes_max) = 0;
};

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

    virtual Result<std::unique_ptr<StateView>> view() = 0;

    // A whole state from another node, in pieces, beside the one in force; a crash or another begin
    // drops what is not finished. `last` is the entry up to which it goes, not before what is
    // applied here.
    virtual Result<void> begin_install(const core::LogId& last,
                                       const core::Configuration& configuration) = 0;
    // Rows with values, each key once.
    virtual Result<void> install(std::span<const core::Row> rows) = 0;
    // From here on it is the state, and durable. The log must then begin at it or have its last
    // entry; a start that finds neither has the log begin there (storage/README.md).
    virtual Result<void> finish_install() = 0;
};

}  // namespace mortise::storage
