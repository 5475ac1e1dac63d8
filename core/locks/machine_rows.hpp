// The way back from rows to a lock machine; LockMachine::take_changed_rows() is the way there. A
// machine that was loaded does from then on what the saved one would have done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
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
    ClosureId newest_closure;
};

// Trusts no byte: rows may come damaged from a disk, or from another node. Judges each row when it
// comes, so that the last one costs no more than any other.
class MachineLoader {
public:
    // Ascending by key. False: this is no state that we can read; it will not be.
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

    bool put_operations_back(const std::string& name);
    bool put_back(OperationId id, Operation operation);
    bool add_to(std::map<Seq, Operation>& operations, Seq seq, Operation& part);
    bool is_sound(const Session& session);
    bool is_complete() const;

    LockMachine machine_;
    std::optional<StateTotals> totals_;
    std::string last_key_;
    // Of names that came already: each is owed to the row of its session.
    std::map<SessionId, std::map<Seq, Operation>> owed_;
    std::size_t ended_found_ = 0;  // ended sessions with something left
    bool is_unfinished_ = false;   // the name that was added last: one of those has it
    LogIndex newest_index_;        // that any row names
    bool is_empty_ = true;
    bool ok_ = true;
};

}  // namespace mortise::core
