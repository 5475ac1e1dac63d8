// The way back from rows to a lock machine; LockMachine::take_changed_rows() is the way there. A
// machine that was loaded does from then on what the saved one would have done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/locks/lock_machine.hpp"
#include "core/locks/row.hpp"

namespace mortise::core {

// What is not about one session or name; and how many rows there are, so that a lost one shows.
struct StateTotals {
    FencingToken newest_token;
    SessionId newest_session;
    std::uint64_t endings = 0;
    std::uint64_t sessions = 0;
    std::uint64_t names = 0;
    std::uint64_t incarnations = 0;
    std::string waited_cursor;
    bool waited_done = true;
};

// Trusts no byte: rows may come damaged from a disk, or from another node.
class MachineLoader {
public:
    // In any order, each key once. False: this is no state that we can read; it will not be.
    bool add(std::string_view key, std::string_view value);
    // The machine as it was after the entry at `applied`. Empty when a row was refused, is missing,
    // or contradicts another. No rows are the state before the first entry.
    std::optional<LockMachine> finish(LogIndex applied);

private:
    bool take(std::string_view key, std::string_view value);
    bool add_totals(std::string_view value);
    bool add_session(SessionId id, std::string_view value);
    bool add_ended(SessionId id, std::string_view value);
    bool add_name(std::string_view name, std::string_view value);

    bool is_complete() const;
    bool put_operations_back(LogIndex applied);
    bool put_back(OperationId id, Operation operation);
    bool are_sessions_sound(LogIndex applied) const;
    bool is_sound(const Session& session, LogIndex applied) const;

    LockMachine machine_;
    std::optional<StateTotals> totals_;
    bool is_empty_ = true;
    bool ok_ = true;
};

}  // namespace mortise::core
