// Names, their holders and their waiters (S13, S26-S32, S37). It knows nothing about sessions: the
// caller has removed ended sessions from a name before. Every replica applies the same calls in the
// same order and must reach the same state, so nothing here reads a clock, draws a random number or
// iterates an unordered container.
//
// Invariants, checked by check_invariants():
//   (1) the modes of all holders of a name are pairwise compatible (P2);
//   (2) a name with waiters has a holder, or a request for all of several names leads its queue;
//       and no waiter could enter;
//   (3) no token is above the cluster's counter; exclusive grants of a name only grow (P1);
//   (4) a record has a holder, a waiter or a value (S37); a former holder in the way is a holder;
//   (5) a hold whose upgrade waits has the mode update, and is not alone (S27);
//   (6) a hold that was broken, or left early, stays exactly as long as a quorum timer keeps it
//       there (S8, S9, S24).
// While a name is being swept in parts, the second half of (2) does not apply to it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/locks/name_extras.hpp"
#include "core/locks/table/lock_record.hpp"
#include "core/locks/table/wait_queue.hpp"

namespace mortise::core {

class LockTable {
public:
    enum class Result : std::uint8_t { granted, queued, busy, kind_mismatch, resource_exhausted };
    // What operations that waited, and a new one, are answered now: granted or converted.
    using Grants = std::vector<Answered>;

    using Ended = LockRecord::Left;
    // A command of that entry comes next: its grants belong to that entry. `endings` is the number
    // of ended sessions so far. `ended` tells how an operation's session ended, or that it is
    // alive; null: there are no traces of ended sessions. It is used until the next begin().
    void begin(LogIndex index, std::uint64_t endings, const Ended* ended) {
        index_ = index;
        endings_ = endings;
        ended_ = ended;
    }

    // On `granted` the grant is one of `grants`: by its priority it may let others in with it. On
    // `queued` the operation is in the `grants` of a later call. `busy` leaves nothing behind
    // (S20). `waiter` is the request as it waits, in whatever mode. `last` has for each name the
    // previous holder, if the record with it was removed.
    using LastHolders = ShortList<Previous>;
    Result acquire(Waiter waiter, const Acquire& request, LastHolders last, Grants& grants);
    using NameList = core::Names;
    // Releases what the operation holds of these names. It must hold them all.
    void release(const NameList& names, OperationId operation, Predecessor how, Grants& grants);
    // Returns its token. Empty, without an effect, unless the hold's mode covers `mode` and no
    // upgrade of it waits. It must be a holder (S27).
    std::optional<FencingToken> downgrade(const std::string& name, OperationId hold, LockMode mode,
                                          Grants& grants);
    enum class Upgraded : std::uint8_t { at_once, queued, busy, deadlock, invalid };
    // On `at_once` it is exclusive now, with a new token; on `queued` the operation is in the
    // `grants` of a later call. It must be a holder (S27).
    Upgraded upgrade(const std::string& name, const Conversion& conversion, bool wait);
    // Removes the upgrade that waits for this hold, and lets nobody in.
    std::optional<Conversion> cancel_upgrade(const std::string& name, OperationId hold);
    // Removes the upgrade, which must wait.
    void withdraw_upgrade(const std::string& name, Grants& grants);
    // Removes a waiter from all its queues; it must wait.
    void withdraw(const NameList& names, Ticket ticket, Grants& grants);
    // Whether `hold` may write the value of this name, and there was capacity (lock_values.cpp).
    enum class Stored : std::uint8_t { stored, not_exclusive, full };
    Stored set_value(const std::string& name, OperationId hold, std::string bytes);
    Stored mark_consistent(const std::string& name, OperationId hold);
    // The holders with this token, oldest first, broken or not (break_lock.cpp).
    [[nodiscard]] std::vector<OperationId> holders_under(std::string_view name,
                                                         FencingToken token) const;
    // Marks the hold broken. It stays for the time that the renewal at `since` gave to it. It must
    // be a holder. Lets nobody in.
    void close(const std::string& name, OperationId hold, LogIndex since,
               const OpenSession& session);
    // Removes these holders at once. They must be holders.
    void take_off(const std::string& name, const std::vector<OperationId>& holds, Predecessor how,
                  Grants& grants);
    // Removes former holders with this token that stayed in the way. False if there are none. Lets
    // nobody in.
    bool open(const std::string& name, FencingToken token);
    // Lets in every waiter that may enter.
    void look_again(const std::string& name, Grants& grants) { settle({name}, grants); }
    // The cluster counts its max_hold from here on, if it does not yet. False, without an effect,
    // if it was granted after that index. It must be a holder with a max_hold (hold_terms.cpp).
    bool count_max_hold(const std::string& name, OperationId hold, LogIndex known);
    // The former holder does not stay in the way any longer because of this quorum timer, which
    // must exist.
    void end_closure(const std::string& name, ClosureId id, Grants& grants);
    // The hold of a quorum timer; empty if it does not exist.
    struct Closed {
        std::string name;
        Closure closure;
    };
    [[nodiscard]] std::optional<Closed> find_closure(ClosureId id) const;
    // The timers that began or ended since the last call; those that ended need no counting.
    [[nodiscard]] std::vector<Closed> take_begun_closures() {
        return std::exchange(begun_closures_, {});
    }
    [[nodiscard]] std::vector<ClosureId> take_ended_closures() {
        return std::exchange(ended_closures_, {});
    }
    [[nodiscard]] ClosureId newest_closure() const { return newest_closure_; }
    // Whether a quorum timer keeps it in the way when it leaves.
    [[nodiscard]] bool is_kept(const std::string& name, OperationId hold) const;
    // Null if there are none.
    [[nodiscard]] const NameExtras* extras_of(std::string_view name) const;
    using Extras = std::map<std::string, NameExtras, std::less<>>;
    [[nodiscard]] const Extras& extras() const { return extras_; }
    // Removes the holders and waiters of ended sessions, unless that was done since the last
    // ending: at most `max` of them. Nobody is let in before all are removed.
    struct Cleared {
        std::vector<OperationId> gone;
        bool is_done = true;  // false: there are more
        Previous last;        // the last one to leave, when it is done
    };
    Cleared clear(const std::string& name, std::size_t max, Grants& grants);
    // What else was removed, since the last call: letting in on one name may lead to others.
    using Gone = std::vector<std::pair<std::string, std::vector<OperationId>>>;
    [[nodiscard]] Gone take_gone() { return std::exchange(gone_, {}); }

    // Names where a waiter may now have others in front than before, although nobody was let in:
    // the turn passed, or a waiter in front left. Since the last reset.
    using Turned = std::set<std::string, std::less<>>;
    [[nodiscard]] const Turned& turned() const { return turned_; }
    void forget_turned() { turned_.clear(); }
    // A waiter in front left or does not count any more, although its place still exists.
    void note_turn(const std::string& name);

    [[nodiscard]] const LockRecord* find(std::string_view name) const;
    [[nodiscard]] const WaitQueue* queue_of(std::string_view name) const;
    // The number of names on which the request with that ticket waits; zero if there is none.
    [[nodiscard]] std::size_t names_waited_for(Ticket ticket) const;
    // The first name after `after` with waiters; null if there is none.
    [[nodiscard]] const std::string* next_waited(std::string_view after) const;
    // Whether an acquire in this mode would be granted at once.
    [[nodiscard]] bool would_grant(std::string_view name, LockMode mode, Priority priority) const;

    using Records = std::map<std::string, LockRecord, std::less<>>;
    [[nodiscard]] const Records& records() const { return records_; }
    [[nodiscard]] FencingToken newest_token() const { return newest_token_; }

    // Names that were written to, or removed, since the last reset.
    using Names = std::set<std::string, std::less<>>;
    [[nodiscard]] const Names& changes() const { return changes_; }
    void forget_changes() { changes_.clear(); }

    // For loading. False if the name exists, or contradicts others: then the table is invalid.
    bool restore(std::string name, LockRecord record, WaitQueue queue, NameExtras extras);
    void restore_newest(FencingToken token, ClosureId closure) {
        newest_token_ = token;
        newest_closure_ = closure;
    }

    // `unfinished`: names that are swept in part.
    using Views = std::set<std::string_view>;
    void check_invariants(const Views& unfinished = {}) const;
    // Invariant (2) for requests for several names.
    void check_groups(const Views& unfinished) const;
    // Invariants (1)-(6) of one name, which must exist.
    void check_name(std::string_view name, bool is_unfinished) const;

private:
    using Queues = std::map<std::string, WaitQueue, std::less<>>;

    struct Slot {
        Records::iterator record;
        Queues::iterator queue;  // end() if nobody waits
    };

    using Slots = ShortList<Slot>;  // of the names of a request, in its order

    [[nodiscard]] Slot slot_of(const std::string& name);
    [[nodiscard]] static bool would_grant(const LockRecord* record, const WaitQueue* queue,
                                          LockMode mode, Priority priority);
    [[nodiscard]] const Conversion* waiting_upgrade(const Slot& slot, OperationId hold) const;
    [[nodiscard]] bool is_left_by_too_many(const std::string& name, const HoldTerms& terms) const;
    FencingToken convert(LockRecord& record, OperationId hold);
    bool serve_conversion(Slot& slot, Grants& grants);
    FencingToken grant(const std::string& name, LockRecord& record, const Waiter& waiter);
    void grant(const std::string& name, LockRecord& record, const Waiter& waiter, Grants& grants);
    void begin_terms(const std::string& name, const HoldTerms& terms, Grant& grant);
    void begin_closure(const std::string& name, const Closure& closure);
    [[nodiscard]] LockRecord::Keeps keeps_on(const std::string& name);
    bool stays_on(const std::string& name, const Grant& grant, Predecessor how);
    LockRecord& ensure(const std::string& name, QueuePolicy policy, Previous last);
    [[nodiscard]] Result refusal(const Acquire& request, const Slots& slots) const;
    Result acquire_any(Waiter& waiter, const Acquire& request, const Slots& slots,
                       LastHolders& last, Grants& grants);
    Result acquire_all(Waiter& waiter, const Acquire& request, LastHolders& last, Grants& grants);
    Result settle_newcomer(const NameList& names, OperationId operation, Grants& grants);
    [[nodiscard]] bool may_spread(std::string_view name) const;
    void queue_up(Waiter& waiter, const NamedMode& one);
    Cleared remove_dead(const std::string& name, std::size_t max);
    bool is_at_head(const Waiter& barrier, const std::string& name) const;
    bool clear_for(const Waiter& barrier);
    bool serve_barrier(const Waiter& barrier, Grants& grants);
    void leave_other_queues(const Waiter& entering, const std::string& name);
    void enter(Slot& slot, const Waiter& waiter, Grants& grants);
    bool enter_batch(Slot& slot, Grants& grants);
    bool turn_phase(Slot& slot, Grants& grants);
    bool enter_unhindered(Slot& slot, Grants& grants);
    void count_overtakings(Slot& slot);
    void pass_turn_to_writers(Slot& slot);
    bool let_in(Slot& slot, Grants& grants);
    bool step(const std::string& name, Grants& grants);
    void look_behind_moved();
    void tidy(const std::string& name);
    [[nodiscard]] bool holds_alone(const std::string& name, OperationId hold) const;
    void value_is_dirty(const std::string& name);
    void end_closures(const std::string& name);
    void end_closures_of(const std::string& name, OperationId hold);
    template <class IsOver>
    void end_closures_if(const std::string& name, const IsOver& is_over);
    [[nodiscard]] static bool is_over(const Grant* hold, const Closure& closure);
    void forget_extras(const std::string& name);
    void settle(const NameList& names, Grants& grants);
    // A waiting request for several names, and its places.
    struct Group {
        OperationId operation;
        Part part = Part::one_of;
        std::map<std::string, LockMode, std::less<>> names;
    };
    bool join_group(const std::string& name, const Waiter& waiter);
    void leave_group(const std::string& name, Ticket ticket);

    static void check_conversion(const LockRecord& record, const Conversion& conversion,
                                 bool is_unfinished);
    static void check_waiters(const LockRecord& record, const WaitQueue& queue);
    void check_extras(std::string_view name, const LockRecord& record) const;
    void check_closure(std::string_view name, const LockRecord& record,
                       const Closure& closure) const;

    Records records_;
    Queues queues_;
    Extras extras_;
    std::size_t value_bytes_ = 0;                // of all names together
    std::map<ClosureId, std::string> closures_;  // the name of each
    std::vector<Closed> begun_closures_;
    std::vector<ClosureId> ended_closures_;
    ClosureId newest_closure_;
    FencingToken newest_token_;
    LogIndex index_;
    std::uint64_t endings_ = 0;  // from begin(): a new record has no older traces
    Names changes_;
    struct Entered {
        Ticket ticket;
        Priority priority = 0;
    };
    std::vector<Entered> entered_;  // in the present step
    std::map<Ticket, Group> groups_;
    std::set<std::string> moved_;  // names that changed in the present step
    std::set<std::string> todo_;   // names to be examined
    const Ended* ended_ = nullptr;
    Gone gone_;
    Turned turned_;
};

}  // namespace mortise::core
