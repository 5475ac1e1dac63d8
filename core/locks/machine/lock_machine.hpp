// The replicated state: sessions, exactly-once, and the lock table, as one machine. Only apply()
// changes it; equal batches in equal order give equal outcomes and equal state everywhere.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/base/instant.hpp"
#include "core/locks/command.hpp"
#include "core/locks/outcome.hpp"
#include "core/locks/row.hpp"
#include "core/locks/row_sum.hpp"
#include "core/locks/table/lock_table.hpp"
#include "core/locks/table/locker_book.hpp"
#include "core/locks/table/session_table.hpp"

namespace mortise::core {

class DeadlockSearch;

// What a reader learns about a name. Ended sessions are left out, swept or not.
struct LockView {
    struct Waiting {
        OperationId operation;
        LockMode mode = LockMode::exclusive;
        LogIndex since;
        std::string label;
        Priority priority = 0;
        Seq upgrades{};  // for an upgrade, the hold of the same session; otherwise not set
        LockerTag locker{};
        friend bool operator==(const Waiting&, const Waiting&) = default;
    };
    // What keeps the name closed: former holders, once for each token and kind.
    struct Closing {
        Closure::Kind kind = Closure::Kind::broken;
        FencingToken token;
        std::vector<ClosureId> closures{};
        // The rest of the time, at most. The node that counts it down fills it in; it is not
        // replicated state.
        std::optional<Nanoseconds> left{};
        friend bool operator==(const Closing& a, const Closing& b) {
            return a.kind == b.kind && a.token == b.token;
        }
    };
    std::string name;
    QueuePolicy policy = QueuePolicy::phase_fair;
    std::vector<Grant> holders;         // oldest first
    std::vector<Waiting> waiters;       // an upgrade first (S28), the others in log order
    std::size_t holders_total = 0;      // including those that are left out of `holders`
    std::size_t waiters_total = 0;      // the same for `waiters`
    std::map<SessionId, NodeId> nodes;  // the nodes of the sessions that are named here
    std::optional<LockValue> value{};   // without its bytes in listings
    bool is_closed = false;             // a former holder keeps it closed (S8, S9, S24)
    FencingToken closed_under{};        // if closed: the newest token among those, which reopens it
    std::vector<Closing> closings{};    // if closed: the newest token first
    std::size_t closings_total = 0;     // including those that are left out of `closings`
    friend bool operator==(const LockView&, const LockView&) = default;
};

// It has a source file per subject: lock_machine.cpp has apply and the sessions, requests.cpp the
// requests of sessions, conversions.cpp conversions of holds, wait_cycles.cpp deadlocks between
// lockers, hold_terms.cpp time limits of holds, lock_values.cpp and break_lock.cpp values and
// breaks, sweep.cpp the removal of ended sessions, lock_views.cpp the answers to readers,
// machine_rows.cpp the conversion to rows and back, lock_machine_invariants.cpp the invariants.
class LockMachine {
public:
    // Applies the commands of one entry. Indexes must ascend.
    void apply(LogIndex index, const std::vector<Command>& batch, Outcomes& outcomes);

    [[nodiscard]] const SessionTable& sessions() const { return sessions_; }
    [[nodiscard]] const LockTable& table() const { return table_; }
    // Names still have traces of ended sessions: the leader has to put a Sweep into the log.
    [[nodiscard]] bool needs_sweep() const { return !ended_.empty(); }

    // Whether an acquire would be granted at once. Also true if it may be granted after the removal
    // of ended sessions from the name.
    [[nodiscard]] bool would_grant(std::string_view name, LockMode mode,
                                   Priority priority = 0) const;
    // The view of an unknown name is empty. Further holders and waiters are left out, but counted.
    [[nodiscard]] LockView inspect(std::string_view name, std::size_t parties_max = SIZE_MAX) const;
    // Names with this prefix that are greater than `after`, in byte order, at most `limit`. Ends
    // with the name that raises the number of holders and waiters to `parties_max`.
    [[nodiscard]] std::vector<LockView> list(std::string_view prefix, std::string_view after,
                                             std::size_t limit,
                                             std::size_t parties_max = SIZE_MAX) const;
    // The waiters for what that operation holds of the name: the mode of the first waiter that
    // conflicts with it, and the number of waiters there. Empty if it keeps nobody waiting.
    struct Contention {
        LockMode mode = LockMode::exclusive;
        std::size_t waiters = 0;
    };
    // For those holds of the name that keep somebody waiting.
    using Contentions = std::vector<std::pair<OperationId, Contention>>;
    [[nodiscard]] Contentions contentions(std::string_view name,
                                          const std::set<OperationId>& holds) const;
    [[nodiscard]] std::optional<Contention> contention(std::string_view name,
                                                       OperationId hold) const;
    // The node of a session; not set if the session has ended.
    [[nodiscard]] NodeId node_of(SessionId session) const;

    // The state as rows: what changed since the last call, ascending by key, each key once. A key
    // that was created and removed in between may be reported as removed. MachineLoader
    // (machine_rows.hpp) makes a machine of rows.
    [[nodiscard]] std::vector<Row> take_changed_rows();
    // A checksum over all rows, as of the last take_changed_rows(): equal for equal states.
    [[nodiscard]] std::uint64_t rows_sum() const { return rows_sum_.value(); }
    // An upper bound of the number of changed rows.
    [[nodiscard]] std::size_t changed_rows() const;

    void check_invariants() const;

private:
    friend class MachineLoader;

    // What a session had when it ended, and was not removed since.
    struct Ended {
        Predecessor how = Predecessor::clean;
        std::map<Seq, Operation> operations;
    };

    void on(const OpenSession& command);
    void on(const Renew& command);
    void on(const Expire& command);
    void on(const Sweep& command);
    void on(const Acknowledge& command);
    void on(const Request& command);
    void on(const EndClosure& command);

    void tell_again(const Session& session, Seq seq);
    [[nodiscard]] static bool is_too_much(const Session& session, const RequestBody& body);
    void on(Session& session, Seq seq, const Acquire& request);
    void on(Session& session, Seq seq, const Release& release);
    void on(Session& session, Seq seq, const Cancel& cancel);
    void on(Session& session, Seq seq, const Downgrade& downgrade);
    void on(Session& session, Seq seq, const Upgrade& upgrade);
    void on(Session& session, Seq seq, const SetValue& request);
    void on(Session& session, Seq seq, const MarkConsistent& request);
    void on(Session& session, Seq seq, const BreakLock& request);
    void on(Session& session, Seq seq, const AskRelease& request);
    void on(Session& session, Seq seq, const Declined& request);
    void on(Session& session, Seq seq, const CloseSession& request);
    [[nodiscard]] AnswerKind may_write(const Session& session, Seq hold, const std::string& name);
    void take_away(const BreakLock& request, const std::vector<OperationId>& holds,
                   LockTable::Grants& grants);
    void cancel_upgrade(Session& owner, const std::string& name, OperationId hold);
    [[nodiscard]] static HoldTerms counted(const HoldTerms& terms, std::uint32_t rho_ppm);
    void count_max_holds(const Session& session, LogIndex known);
    void end_max_hold(const LockTable::Closed& over, LockTable::Grants& grants);
    void lose_name(OperationId hold, const std::string& name);
    void take_place(Session& session, Seq seq, LockTable::Result result, Operation operation);
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

    void end_former_life(Incarnation incarnation);
    void end_session(SessionId id, SessionEnd how);
    LockTable::Cleared clear(const std::string& name, std::size_t max);
    Previous touch(const std::string& name);
    void touch_all(const LockTable::NameList& names);
    void tell_who_ended();
    void end_command();
    void note_turns(const std::map<Seq, Operation>& ended);
    void refuse_deadlocks(OperationId asked);
    void add_suspects(DeadlockSearch& search, OperationId asked, std::size_t& steps) const;
    void add_requests_of(LockerId locker, DeadlockSearch& search) const;
    void add_suspects_on(const std::string& name, DeadlockSearch& search, std::size_t& steps) const;
    [[nodiscard]] bool may_close_a_circle(OperationId asked) const;
    [[nodiscard]] bool is_wanted(LockerId locker) const;
    void refuse(OperationId victim, std::vector<CircleStep> circle);
    void forget(OperationId gone, const std::string& name);
    void end_operation(Session& session, Seq seq);
    struct SweepLeft {
        std::size_t names = 0;
        std::size_t traces = 0;
    };
    bool sweep_name(const std::string& name, SweepLeft& left);
    void sweep_waited(SweepLeft& left);
    void sweep_held(SweepLeft& left);
    void end_sweep();
    void answer(Session& session, Seq seq, Answer answer);
    void publish(LockTable::Grants grants);
    [[nodiscard]] bool is_live(OperationId operation) const;
    [[nodiscard]] bool is_clear(const LockRecord& record, const WaitQueue* queue) const;
    [[nodiscard]] bool is_in_the_way(std::string_view name, const Grant& holder) const;
    void view_holders(const LockRecord& record, std::size_t max, LockView& view) const;
    void view_waiters(const LockRecord& record, std::size_t max, LockView& view) const;
    void view_closings(const std::vector<const Grant*>& closed, LockView& view) const;
    [[nodiscard]] bool will_be_delayed(const Grant& holder) const;
    [[nodiscard]] static std::optional<Contention> contention_of(const Grant& held,
                                                                 const WaitQueue& queue);
    [[nodiscard]] bool is_hindered(const LockRecord& record, const WaitQueue& queue, LockMode mode,
                                   Priority priority) const;
    [[nodiscard]] const Operation* operation_of(OperationId id) const;
    [[nodiscard]] LockTable::Views unfinished() const;
    void check_groups() const { table_.check_groups(unfinished()); }
    void check_operations() const;
    [[nodiscard]] std::string totals() const;

    SessionTable sessions_;
    LockTable table_;
    LockerBook lockers_;                // of live sessions
    std::map<SessionId, Ended> ended_;  // which have something left to remove
    std::uint64_t endings_ = 0;         // the number of sessions that ever ended
    // Holds with a max_hold that their nodes may not know of yet; sessions without any are left
    // out.
    std::map<SessionId, std::set<Seq>> uncounted_;
    std::string waited_cursor_;  // sweeping: names with waiters up to here are done
    bool waited_done_ = true;
    std::set<SessionId> changed_ended_;  // as rows
    std::string told_totals_;            // the row, at the last take_changed_rows()
    RowSum rows_sum_;

    LockTable::Ended how_ended_;  // of the session of an operation; set while a command is applied
    LogIndex index_;              // the index that is being applied
    std::uint32_t place_ = 0;     // of the command in its batch
    OperationId asked_;           // the operation that the command made, if it is queued
    std::vector<LockerId> let_in_;  // lockers that got more, or stronger, holds by the command
    Outcomes* outcomes_ = nullptr;
};

}  // namespace mortise::core
