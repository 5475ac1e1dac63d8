// Names, their holders and their waiters (S13, S26-S32, S37): what requests do to them. It knows
// nothing about sessions: the caller has removed ended sessions from a name before. Every replica
// applies the same calls in the same order and must reach the same state, so nothing here reads a
// clock, draws a random number or iterates an unordered container.
//
// Its parts, each in a header of its name, own the state that they decide about:
//   NameTable       the records and the queues of names; which of them have changed
//   Holds           tokens; what happens when a hold begins, changes and ends
//     ClosureBook   the quorum timers of holds
//     ValueBook     the values of names
//     NameChanges   what observers are told
//   RequestGroups   the places of requests for several names
//   TraceRemover    what ended sessions left on a name
//   QueueAdmission  which waiters are granted, after each change
// table_invariants.hpp has the invariants. The sources table_conversions, table_kinds,
// table_values, table_breaks and table_timers have the functions for conversions, names that are no
// locks, values, breaks and time limits.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/locks/name_extras.hpp"
#include "core/locks/table/admission.hpp"
#include "core/locks/table/holds.hpp"
#include "core/locks/table/name_table.hpp"
#include "core/locks/table/request_groups.hpp"
#include "core/locks/table/trace_remover.hpp"

namespace mortise::core {

class LockTable {
public:
    enum class Result : std::uint8_t {
        granted,
        queued,
        busy,
        kind_mismatch,
        resource_exhausted,
    };
    using Grants = core::Grants;
    using NameList = std::span<const RecordRef>;
    using Closed = ClosureBook::Named;
    using Cleared = TraceRemover::Cleared;
    using Ended = TraceRemover::Ended;

    // Called before each command of that entry, to which the following grants belong; see
    // TraceRemover.
    void begin(LogIndex index, std::uint64_t endings, const Ended* ended) {
        holds_.begin(index);
        traces_.begin(endings, ended);
    }

    // On `granted`, `grants` has the grant, and perhaps those of other waiters: its priority may
    // let them in, too. On `queued` the operation is in the `grants` of a later call. `busy` leaves
    // nothing behind (S20). `waiter` is the request as it waits; its mode is set here. `last` has
    // for each name the previous holder, if the record with it was removed; it may be empty if none
    // was. `stands` gets the names that it waits for or was granted, ascending.
    using LastHolders = std::vector<Previous>;
    Result acquire(Waiter& waiter, const Acquire& request, LastHolders last, Grants& grants,
                   RecordRefs& stands);
    // Releases the operation's hold on these names. It must hold them all.
    void release(NameList names, OperationId operation, Predecessor how, Grants& grants);
    // Makes the operation's cached grant an ordinary one (S45). False, without an effect, if it has
    // no cached grant there, or not that token, or an upgrade of it waits.
    bool publish(const RecordRef& record, OperationId operation, const Publish& as);
    // Removes a waiter, which must be waiting, from all its queues.
    void withdraw(NameList names, Ticket ticket, Grants& grants);

    // Conversions (table_conversions.cpp). Returns its token. Empty, without an effect, unless the
    // hold's mode covers `mode` and no upgrade of it waits. It must be a holder (S27).
    std::optional<FencingToken> downgrade(const RecordRef& record, OperationId hold, LockMode mode,
                                          Grants& grants);
    enum class Upgraded : std::uint8_t { at_once, queued, busy, deadlock, invalid };
    // On `at_once` it is exclusive now, with a new token; on `queued` the operation is in the
    // `grants` of a later call. It must be a holder (S27).
    Upgraded upgrade(const RecordRef& record, const Conversion& conversion, bool wait);
    // Removes the upgrade that waits for this hold, and grants nothing.
    std::optional<Conversion> cancel_upgrade(const RecordRef& record, OperationId hold);
    // Removes the upgrade, which must wait.
    void withdraw_upgrade(const RecordRef& record, Grants& grants);

    // `not_exclusive`: `hold` does not hold the name exclusively. `full`: there is no capacity
    // (table_values.cpp).
    enum class Stored : std::uint8_t { stored, not_exclusive, full };
    Stored set_value(const RecordRef& record, OperationId hold, std::string bytes);
    Stored mark_consistent(const RecordRef& record, OperationId hold);

    // Removes the name with its value and with what it is. False, without an effect, if it has a
    // holder, also a former one, or a waiter. An unknown name is removed already (table_kinds.cpp).
    bool remove(std::string_view name);
    // Makes a name of some kind, which must be unknown. `last` as in acquire().
    RecordRef make(std::string_view name, KindState state, Previous last);
    // A request has changed the state of the name. All that wait there are answered if `others` is
    // set; of a kind with holders, waiters are let in.
    void stepped(const RecordRef& record, std::optional<AnswerKind> others, Grants& grants);
    // It waits for the name, and `stands` gets it.
    void wait(Waiter waiter, const RecordRef& record, RecordRefs& stands);

    // The holders with this token, oldest first, broken or not (table_breaks.cpp).
    [[nodiscard]] std::vector<OperationId> holders_under(std::string_view name,
                                                         FencingToken token) const;
    // Marks the hold broken. It stays for the time that the renewal at `since` gave to it. It must
    // be a holder. Lets nobody in.
    void close(std::string_view name, OperationId hold, LogIndex since, const OpenSession& session);
    // For the next holder, if the hold has no label; it must be a holder.
    void set_label_if_none(std::string_view name, OperationId hold, const std::string& label);
    // Removes these holders at once. They must be holders.
    void take_off(std::string_view name, const std::vector<OperationId>& holds, Predecessor how,
                  Grants& grants);
    // Removes former holders with this token that still block the name, and grants nothing. False
    // if there are none.
    bool open(std::string_view name, FencingToken token);
    // Grants every waiter that can be granted.
    void look_again(std::string_view name, Grants& grants);

    // The cluster counts its max_hold from here on, if it does not yet. False, without an effect,
    // if it was granted after that index. It must be a holder with a max_hold (table_timers.cpp).
    bool count_max_hold(std::string_view name, OperationId hold, LogIndex known);
    // Ends a quorum timer, which must exist. If no other timer keeps the former holder there, it
    // does not block the name any longer.
    void end_closure(std::string_view name, ClosureId id, Grants& grants);
    [[nodiscard]] std::vector<Closed> take_begun_closures() {
        return holds_.closures().take_begun();
    }
    // For a quorum timer of no name.
    [[nodiscard]] ClosureId take_closure_number() { return holds_.closures().take_number(); }
    [[nodiscard]] std::vector<ClosureId> take_ended_closures() {
        return holds_.closures().take_ended();
    }

    // Removes the holders and waiters of ended sessions, unless that was done since the last
    // ending: at most `max` of them. Nobody is let in before all are removed.
    Cleared clear(std::string_view name, std::size_t max, Grants& grants);
    // The traces that were removed from further names since the last call: a grant on one name may
    // lead to others.
    using Gone = QueueAdmission::Gone;
    [[nodiscard]] Gone take_gone() { return std::exchange(gone_, {}); }
    // What happened to names in the present entry.
    [[nodiscard]] NameChanges& name_changes() { return holds_.changes(); }
    // See NameTable.
    void note_reordered(const NamedRecord& record) { names_.note_reordered(record); }
    void forget_reordered() { names_.forget_reordered(); }
    void forget_changed_queues() { names_.forget_changed_queues(); }
    std::vector<RecordRef> take_changes(std::size_t max) { return names_.take_changes(max); }

    [[nodiscard]] const NameTable& names() const { return names_; }
    [[nodiscard]] const LockRecord* find(std::string_view name) const { return names_.find(name); }
    [[nodiscard]] const WaitQueue* queue_of(std::string_view name) const {
        return names_.queue_of(name);
    }
    [[nodiscard]] const NameTable::Records& records() const { return names_.records(); }
    [[nodiscard]] std::size_t size() const { return names_.size(); }
    [[nodiscard]] const ClosureBook& closures() const { return holds_.closures(); }
    [[nodiscard]] const ValueBook& values() const { return holds_.values(); }
    [[nodiscard]] const RequestGroups& groups() const { return groups_; }
    [[nodiscard]] FencingToken newest_token() const { return holds_.newest_token(); }
    // Whether an acquire in this mode would be granted at once.
    [[nodiscard]] bool would_grant(std::string_view name, LockMode mode, Priority priority) const {
        return would_admit(find(name), mode, priority);
    }

    // For loading. False if the name exists, or contradicts others: then the table is invalid.
    bool restore(std::string_view name, LockRecord record, WaitQueue queue, NameExtras extras);
    // All later tokens, and numbers of quorum timers, are greater than these.
    void continue_after(FencingToken token, ClosureId closure) {
        holds_.restore_newest(token);
        holds_.closures().restore_newest(closure);
    }

private:
    // The records of the names of a request, in its order. A record is null if its name is unknown.
    using Known = RecordRefs;

    [[nodiscard]] Result refusal(const Acquire& request, const Known& known) const;
    [[nodiscard]] static bool recalls(const Acquire& request, const Known& known);
    [[nodiscard]] static bool recalls_all(const Acquire& request, const Known& known);
    struct Stand {
        Grants& grants;
        RecordRefs& names;
    };
    Result acquire_any(Waiter& waiter, const Acquire& request, const Known& known,
                       LastHolders& last, Stand stand);
    Result acquire_all(Waiter& waiter, const Acquire& request, const Known& known,
                       LastHolders& last, Stand stand);
    Result acquire_permits(Waiter& waiter, const Acquire& request, const RecordRef& known,
                           LastHolders& last, Stand stand);
    void enter(const RecordRef& record, LockMode mode, Waiter& waiter, Stand stand);
    // The record, which is created if it is null.
    RecordRef ensure(const RecordRef& known, const Acquire& request, std::size_t at,
                     LastHolders& last);
    void answer_all(const RecordRef& record, AnswerKind kind, Grants& grants);
    void queue_up(Waiter& waiter, LockMode mode, const RecordRef& record, RecordRefs& names);
    Result settle_newcomer(OperationId operation, Stand stand);
    [[nodiscard]] bool may_spread(const NamedRecord& record) const;
    void settle(NameList names, Grants& grants);
    void settle(const RecordRef& name, Grants& grants) { settle({&name, 1}, grants); }

    NameTable names_;
    Holds holds_;
    RequestGroups groups_;
    TraceRemover traces_;
    Gone gone_;
};

// The upgrade that waits for this hold; null if there is none.
[[nodiscard]] const Conversion* waiting_upgrade(const LockRecord& record, OperationId hold);
// The upgrade of a shared hold that waits for cached grants; null if there is none.
[[nodiscard]] const Conversion* reader_that_upgrades(const LockRecord& record);

}  // namespace mortise::core
