// Makes a lock machine from the rows that RowWriter made. The new machine behaves like the saved
// one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/locks/machine/lock_machine.hpp"
#include "core/locks/row.hpp"
#include "core/locks/rows/totals_row.hpp"

namespace mortise::core {

// It relies on no byte of a row: rows may be damaged on a disk, or come from another node. It
// checks each row when it is added, so that the last one costs no more than any other.
class MachineLoader {
public:
    // Rows must ascend by key. Returns false if they are not a state that this version can read.
    bool add(std::string_view key, std::string_view value);
    // Returns the machine as after the entry at `applied`, or nothing if a row was refused, is
    // missing, or contradicts another. No rows at all are the state before the first entry.
    std::optional<LockMachine> finish(LogIndex applied);

private:
    bool take(std::string_view key, std::string_view value);
    bool add_totals(std::string_view value);
    bool add_session(SessionId id, std::string_view value);
    bool add_ended(SessionId id, std::string_view value);
    bool add_mark(LogIndex index, std::string_view value);
    bool add_name(std::string_view name, std::string_view value);

    bool put_operations_back(std::string_view name);
    bool put_back(OperationId id, Operation operation);
    bool add_to(Operations& operations, Seq seq, Operation& part);
    bool is_sound(const Session& session);
    bool is_complete() const;

    LockMachine machine_;
    std::optional<StateTotals> totals_;
    std::string last_key_;
    // Operations found in the rows of names, until the row of their session comes.
    std::map<SessionId, Operations> owed_;
    std::size_t ended_found_ = 0;  // ended sessions with traces
    bool is_unfinished_ = false;   // an ended session has traces on the last name
    LogIndex newest_index_;        // the newest index in any row
    bool is_empty_ = true;
    bool ok_ = true;
};

}  // namespace mortise::core
