// Makes a lock machine from rows; RowWriter makes the rows. The new machine
// behaves from then on like the saved one.
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

// Trusts no byte: rows may come damaged from a disk, or from another node. It checks each row on
// arrival, so that the last one costs no more than any other.
class MachineLoader {
public:
    // Rows ascend by key. False: it is not a state that this version can read.
    bool add(std::string_view key, std::string_view value);
    // The machine after the entry at `applied`. Empty if a row was refused, is missing, or
    // contradicts another. No rows mean the state before the first entry.
    std::optional<LockMachine> finish(LogIndex applied);

private:
    bool take(std::string_view key, std::string_view value);
    bool add_totals(std::string_view value);
    bool add_session(SessionId id, std::string_view value);
    bool add_ended(SessionId id, std::string_view value);
    bool add_name(std::string_view name, std::string_view value);

    bool put_operations_back(const std::string& name);
    bool put_back(OperationId id, Operation operation);
    bool add_to(std::map<Seq, Operation>& operations, Seq seq, Operation& part);
    bool is_sound(const Session& session);
    bool is_complete() const;

    LockMachine machine_;
    std::optional<StateTotals> totals_;
    std::string last_key_;
    // Operations of names that have arrived: the row of each session must have them.
    std::map<SessionId, std::map<Seq, Operation>> owed_;
    std::size_t ended_found_ = 0;  // ended sessions with traces
    bool is_unfinished_ = false;   // the last name: one of those has traces on it
    LogIndex newest_index_;        // the newest index in any row
    bool is_empty_ = true;
    bool ok_ = true;
};

}  // namespace mortise::core
