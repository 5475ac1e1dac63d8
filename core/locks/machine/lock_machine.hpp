// The replicated state: sessions, exactly-once, and the lock table, as one machine. Only apply()
// changes it; equal batches in equal order give equal outcomes and equal state everywhere.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/locks/command.hpp"
#include "core/locks/kinds/barrier_book.hpp"
#include "core/locks/machine/deadlock_watch.hpp"
#include "core/locks/machine/lock_view.hpp"
#include "core/locks/machine/lock_views.hpp"
#include "core/locks/machine/uncounted_holds.hpp"
#include "core/locks/outcome.hpp"
#include "core/locks/row.hpp"
#include "core/locks/rows/row_writer.hpp"
#include "core/locks/table/clock_marks.hpp"
#include "core/locks/table/ended_sessions.hpp"
#include "core/locks/table/eras.hpp"
#include "core/locks/table/lock_table.hpp"
#include "core/locks/table/locker_book.hpp"
#include "core/locks/table/session_table.hpp"

namespace mortise::core {

// Its parts own the state that they decide about:
//   SessionTable, EndedSessions  live sessions, and ended ones that left traces on names
//   LockTable                    names, holders, waiters
//   LockerBook, DeadlockWatch    what lockers hold and wait for; which request fails in a cycle
//   BarrierBook                  which barriers break when a session ends
//   UncountedHolds               holds whose max_hold is not counted yet
//   ClockMarks                   when entries were proposed
//   Eras                         what losses of power leave: the ceiling of tokens, no sessions
//   LockViews, RowWriter         what readers learn; the state as rows
//
// The machine itself turns commands into calls of its parts and into outcomes. It has one function
// for each kind of command and of request, more than 50 in all, which share the sessions and the
// table. lock_machine.cpp and sweep.cpp have the commands about sessions, and eras.cpp what a loss
// of power of a majority does. requests.cpp has the rule
// of exactly-once (S17), acquires, releases and cancels; kind_requests.cpp has the requests for
// names that are no locks, which the rooms of their kinds describe; conversions.cpp,
// lock_values.cpp, barriers.cpp, break_lock.cpp and hold_terms.cpp have the other requests.
// wait_cycles.cpp has the end of each command, and lock_machine_invariants.cpp the invariants.
class LockMachine {
public:
    LockMachine() = default;
    // It cannot be copied, because its parts refer to each other: MachineLoader makes an equal one
    // from all its rows.
    LockMachine(LockMachine&&) = default;
    LockMachine& operator=(LockMachine&&) = default;
    ~LockMachine() = default;

    // Applies the commands of one entry. Indexes must ascend.
    void apply(LogIndex index, const std::vector<Command>& batch, Outcomes& outcomes);
    // Applies an entry of kind `era`: entries that were acknowledged before it may be forgotten.
    void begin_era(LogIndex index, Outcomes& outcomes);

    // What the newest entry did to names, in order; valid until apply(). The caller may move from
    // it, or swap in other changes, whose memory is then used again.
    [[nodiscard]] std::span<NameChange> name_changes() { return table_.name_changes().all(); }
    // The names whose waiters the newest entry may have changed; valid until apply().
    [[nodiscard]] std::span<const RecordRef> changed_queues() const {
        return table_.names().changed_queues();
    }

    [[nodiscard]] const SessionTable& sessions() const { return sessions_; }
    [[nodiscard]] const LockTable& table() const { return table_; }
    // The times of entries, for people.
    [[nodiscard]] const ClockMarks& clock() const { return clock_; }
    // How many there were, the ceiling of tokens, and whether the newest keeps the cluster closed.
    [[nodiscard]] const Eras& eras() const { return eras_; }
    // Names still have traces of ended sessions: the leader has to put a Sweep into the log.
    [[nodiscard]] bool needs_sweep() const { return !ended_.is_empty(); }

    // For readers; valid until the machine applies the next command, or is moved. The functions
    // after it are shortcuts.
    [[nodiscard]] LockViews views() const { return {table_, sessions_, ended_}; }
    [[nodiscard]] bool would_grant(std::string_view name, LockMode mode,
                                   Priority priority = 0) const {
        return views().would_grant(name, mode, priority);
    }
    [[nodiscard]] LockView inspect(std::string_view name,
                                   std::size_t parties_max = SIZE_MAX) const {
        return views().inspect(name, parties_max);
    }
    [[nodiscard]] std::vector<LockView> list(std::string_view prefix, std::string_view after,
                                             std::size_t limit,
                                             std::size_t parties_max = SIZE_MAX) const {
        return views().list(prefix, after, limit, parties_max);
    }

    // The state as rows, from which MachineLoader makes a machine again; see RowWriter.
    [[nodiscard]] std::vector<Row> take_changed_rows() {
        return rows_.take({sessions_, table_, ended_, clock_, eras_});
    }
    [[nodiscard]] std::size_t changed_names() const { return table_.names().changes().size(); }
    [[nodiscard]] std::vector<Row> take_changed_names(std::size_t max) {
        return rows_.take_names(table_, max);
    }
    [[nodiscard]] std::vector<Row> all_rows() const {
        return RowWriter::all({sessions_, table_, ended_, clock_, eras_});
    }
    [[nodiscard]] std::uint64_t rows_sum() const { return rows_.sum(); }
    [[nodiscard]] std::size_t changed_rows() const {
        return RowWriter::changed({sessions_, table_, ended_, clock_, eras_});
    }

    void check_invariants() const;

private:
    friend class MachineLoader;

    void on(const OpenSession& command);
    void on(const Renew& command);
    void on(const Expire& command);
    void on(const Sweep& command);
    void on(const Acknowledge& command);
    void on(const Request& command);
    void on(const EndClosure& command);
    void on(const Clock& command);
    void on(const RaiseCeiling& command);

    void begin_entry(LogIndex index, Outcomes& outcomes);
    void end_entry();
    void close_until_leases_end(const Closure& closing);
    bool end_era_closing(ClosureId id);

    void tell_again(const Session& session, Seq seq);
    void on(Session& session, Seq seq, const Acquire& request);
    void on(Session& session, Seq seq, const Release& release);
    void on(Session& session, Seq seq, const Cancel& cancel);
    void on(Session& session, Seq seq, const Downgrade& downgrade);
    void on(Session& session, Seq seq, const Upgrade& upgrade);
    void on(Session& session, Seq seq, const SetValue& request);
    void on(Session& session, Seq seq, const MarkConsistent& request);
    void on(Session& session, Seq seq, const BreakLock& request);
    void on(Session& session, Seq seq, const EvictSession& request);
    void on(Session& session, Seq seq, const AskRelease& request);
    void on(Session& session, Seq seq, const Publish& request);
    void on(Session& session, Seq seq, const Remove& request);
    void on(Session& session, Seq seq, const Quit& request);
    void on(Session& session, Seq seq, const Declined& request);
    void on(Session& session, Seq seq, const CloseSession& request);
    void on_kind(Session& session, Seq seq, const RequestBody& body);
    template <class Body>
    void ask(Session& session, Seq seq, const Body& request);
    void wait(Session& session, Seq seq, const RecordRef& record, const std::string& label);
    struct Writable {
        AnswerKind kind = AnswerKind::stored;
        RecordRef record;
    };
    [[nodiscard]] Writable may_write(const Session& session, Seq hold, std::string_view name);
    void take_away(const BreakLock& request, const std::vector<OperationId>& holds,
                   LockTable::Grants& grants);
    void cancel_upgrade(Session& owner, const RecordRef& record, OperationId hold);
    void end_max_hold(const LockTable::Closed& over, LockTable::Grants& grants);
    void lose_name(OperationId hold, std::string_view name);
    void add_operation(Session& session, Seq seq, Operation operation);
    void tell(Session& session, Seq seq, LockTable::Result result);
    const Operation* held_operation(const Session& session, Seq seq);
    std::optional<Operation> take_operation(Session& session, Seq seq, bool held_only);
    LockTable::Grants withdraw(const Operation& operation);
    void give_up(Session& session, Seq seq, Seq target, const Operation& operation,
                 AnswerKind kind);
    struct Leaving {
        AnswerKind answer = AnswerKind::released;
        Predecessor how = Predecessor::clean;
    };
    void give_back(Session& session, Seq seq, Seq target, const Operation& operation,
                   Leaving leaving);

    [[nodiscard]] const Operation* waiting_arrival(const Session& session, Seq seq) const;
    [[nodiscard]] bool may_take_part(SessionId session, std::string_view name) const;
    void note_party(SessionId session, std::string_view name, const Barrier& barrier);
    void break_barrier(std::string_view name);
    void break_barriers_of(SessionId session);
    void forget_parties(const Barrier::Members& members, std::string_view name);

    void end_former_life(Incarnation incarnation);
    void end_session(SessionId id, SessionEnd how);
    LockTable::Cleared clear(std::string_view name, std::size_t max);
    Previous touch(std::string_view name);
    bool touch_all(LockTable::NameList names);
    void tell_who_ended();
    void end_command();
    void note_turns(const Operations& ended);
    void refuse_deadlocks();
    void refuse(DeadlockWatch::Deadlock deadlock);
    void refuse_reader_that_upgrades(const RecordRef& record);
    void refuse_tries(const NamedRecord& record);
    void forget_locker(OperationId id, Operation& operation);
    Operation end_operation(Session& session, Seq seq);
    void answer(Session& session, Seq seq, Answer answer);
    void publish(LockTable::Grants grants);
    void take_hold(Session& session, Seq seq, Operation& operation, const Answer& granted);
    [[nodiscard]] const Operation* operation_of(OperationId id) const;
    void check_operations() const;

    SessionTable sessions_{};
    LockTable table_;
    LockerBook lockers_;    // of live sessions
    BarrierBook barriers_;  // likewise
    EndedSessions ended_;
    UncountedHolds uncounted_;
    ClockMarks clock_;  // it decides nothing
    Eras eras_;
    RowWriter rows_;
    DeadlockWatch deadlocks_{};  // of the command that is being applied

    LockTable::Ended how_ended_;  // of the session of an operation; set while a command is applied
    LogIndex index_;              // of the entry that is being applied
    std::uint32_t place_ = 0;     // of the command in its batch
    Outcomes* outcomes_ = nullptr;
    LockTable::Grants spare_;  // empty: its memory is used again
};

}  // namespace mortise::core
