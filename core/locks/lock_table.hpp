// Names, who holds them and who waits (S13, S26-S32, S37). Knows nothing of sessions: whoever
// calls has first cleared the name of those that ended. Every replica applies the same calls in the
// same order and must reach the same state, so nothing here reads a clock, draws a random number or
// walks an unordered container.
//
// Invariants, checked by check_invariants():
//   (1) the modes of all holders of a name are pairwise compatible (P2);
//   (2) a name that has waiters has a holder, or one who waits for all of several names leads its
//       queue; and nobody waits who could enter;
//   (3) no token is above the cluster's counter; exclusive grants of a name only rise (P1);
//   (4) a record has a holder, a waiter or a value (S37); who left and is in the way is a holder;
//   (5) whose upgrade waits holds the name for update, and is not alone (S27);
//   (6) a hold that was broken, or left early, stays exactly as long as a closure keeps it there
//       (S8, S9, S24).
// A name that is cleared by and by, with something left to clear, is excepted from the second half
// of (2).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/locks/lock_record.hpp"
#include "core/locks/name_extras.hpp"
#include "core/locks/wait_queue.hpp"

namespace mortise::core {

struct NewGrant {
    OperationId operation;
    FencingToken token;
    Previous previous;
    // Of a request for several names, instead of those.
    std::vector<NamedGrant> names{};
};

class LockTable {
public:
    enum class Result : std::uint8_t { granted, queued, busy, kind_mismatch, resource_exhausted };
    using Grants = std::vector<NewGrant>;

    using Ended = LockRecord::Left;
    // The entry of which a command comes next: what it grants is granted there. So many sessions
    // ended so far. `ended` says how an operation's session ended, or that it lives; null: nothing
    // is left of any that ended. It is asked until the next begin().
    void begin(LogIndex index, std::uint64_t endings, const Ended* ended) {
        index_ = index;
        endings_ = endings;
        ended_ = ended;
    }

    struct Newcomer {
        Ticket ticket;
        OperationId operation;
        HoldTerms terms{};  // that the hold is under, whatever the request says
    };
    // On `granted` the grant is one of `grants`: by its priority it may let others in with it. On
    // `queued` the operation comes back through the `grants` of some later call. `busy` leaves
    // nothing behind (S20). `last` is who had the name before, in case that nothing is left there
    // to tell.
    Result acquire(const Newcomer& who, const Acquire& request, Previous last, Grants& grants);
    // Likewise for several names, which are known to be in order and none twice. `last` is for each
    // of them.
    Result acquire(const Newcomer& who, const AcquireSeveral& request, std::vector<Previous> last,
                   Grants& grants);
    using NameList = std::vector<std::string>;
    // Frees what the operation holds of these names. Requires that it holds them all.
    void release(const NameList& names, OperationId operation, Predecessor how, Grants& grants);
    // Its token; empty, and nothing happens, unless `mode` is one that the hold's covers and no
    // upgrade of it waits. Requires that it holds (S27).
    std::optional<FencingToken> downgrade(const std::string& name, OperationId hold, LockMode mode,
                                          Grants& grants);
    enum class Upgraded : std::uint8_t { at_once, queued, busy, deadlock, invalid };
    // On `at_once` it is exclusive by now, and has its new token; on `queued` the operation comes
    // back through the `grants` of some later call. Requires that the hold is held (S27).
    Upgraded upgrade(const std::string& name, const Conversion& conversion, bool wait);
    // Takes out the upgrade that waits for this hold; lets nobody in.
    std::optional<Conversion> cancel_upgrade(const std::string& name, OperationId hold);
    // Takes out the upgrade; requires that it waits.
    void withdraw_upgrade(const std::string& name, Grants& grants);
    // Takes a waiter out of these queues, all that it is in; requires that it waits.
    void withdraw(const NameList& names, Ticket ticket, Grants& grants);
    // Whether `hold` may write the value of this name, and there was room (values.cpp).
    enum class Stored : std::uint8_t { stored, not_exclusive, full };
    Stored set_value(const std::string& name, OperationId hold, std::string bytes);
    Stored mark_consistent(const std::string& name, OperationId hold);
    // Who holds under this token, oldest first; broken or not (breaking.cpp).
    [[nodiscard]] std::vector<OperationId> holders_under(std::string_view name,
                                                         FencingToken token) const;
    // The hold is broken, and stays for the time that the renewal at `since` gave to it. Requires
    // that it holds. Lets nobody in.
    void close(const std::string& name, OperationId hold, LogIndex since,
               const OpenSession& session);
    // These are gone at once. Requires that they hold.
    void take_off(const std::string& name, const std::vector<OperationId>& holds, Predecessor how,
                  Grants& grants);
    // What had left under this token and stayed in the way is gone. False when there is none. Lets
    // nobody in.
    bool open(const std::string& name, FencingToken token);
    // Lets in whoever may.
    void look_again(const std::string& name, Grants& grants) { settle({name}, grants); }
    // The cluster counts its max_hold from here on, if it does not yet. False, and it does not,
    // when it was granted after that index. Requires that it is held, and has one (hold_terms.cpp).
    bool count_max_hold(const std::string& name, OperationId hold, LogIndex known);
    // What had left stays in the way no longer for the sake of this closure, which is there.
    void end_closure(const std::string& name, ClosureId id, Grants& grants);
    // Of a closure that is there; empty when it is not.
    struct Closed {
        std::string name;
        Closure closure;
    };
    [[nodiscard]] std::optional<Closed> find_closure(ClosureId id) const;
    // Begun and ended, since this was last asked: those that ended need no counting.
    [[nodiscard]] std::vector<Closed> take_begun_closures() {
        return std::exchange(begun_closures_, {});
    }
    [[nodiscard]] std::vector<ClosureId> take_ended_closures() {
        return std::exchange(ended_closures_, {});
    }
    [[nodiscard]] ClosureId newest_closure() const { return newest_closure_; }
    // A closure keeps it in the way when it is nobody's any more.
    [[nodiscard]] bool is_kept(const std::string& name, OperationId hold) const;
    // Null when it has none.
    [[nodiscard]] const NameExtras* extras_of(std::string_view name) const;
    using Extras = std::map<std::string, NameExtras, std::less<>>;
    [[nodiscard]] const Extras& extras() const { return extras_; }
    // Removes the holders and waiters of ended sessions, unless that was done since the last
    // ending: at most `max` of them, and nobody is let in before all are gone.
    struct Cleared {
        std::vector<OperationId> gone;
        bool is_done = true;  // false: there are more
        Previous last;        // the last of them to leave, when it is done
    };
    Cleared clear(const std::string& name, std::size_t max, Grants& grants);
    // What else was cleared, since this was last asked: whoever lets in on one name may come to
    // others.
    using Gone = std::vector<std::pair<std::string, std::vector<OperationId>>>;
    [[nodiscard]] Gone take_gone() { return std::exchange(gone_, {}); }

    // Names where somebody may wait now for others in front than before, though nobody was let in
    // whom it waits for: the turn passed, or somebody in front left. Since they were last
    // forgotten.
    using Turned = std::set<std::string, std::less<>>;
    [[nodiscard]] const Turned& turned() const { return turned_; }
    void forget_turned() { turned_.clear(); }
    // Somebody in front left, or counts no more, though its place is still there.
    void note_turn(const std::string& name);

    [[nodiscard]] const LockRecord* find(std::string_view name) const;
    [[nodiscard]] const WaitQueue* queue_of(std::string_view name) const;
    // How many names the request for several waits for that came then; zero when none did.
    [[nodiscard]] std::size_t names_waited_for(Ticket ticket) const;
    // The first name after `after` that is waited for; null when there is none.
    [[nodiscard]] const std::string* next_waited(std::string_view after) const;
    // Would an acquire in this mode be granted at once?
    [[nodiscard]] bool would_grant(std::string_view name, LockMode mode, Priority priority) const;

    using Records = std::map<std::string, LockRecord, std::less<>>;
    [[nodiscard]] const Records& records() const { return records_; }
    [[nodiscard]] FencingToken newest_token() const { return newest_token_; }

    // Names written to, or forgotten, since changes were last forgotten.
    using Names = std::set<std::string, std::less<>>;
    [[nodiscard]] const Names& changes() const { return changes_; }
    void forget_changes() { changes_.clear(); }

    // For loading. False when the name is there, or contradicts others: then this is no table.
    bool restore(std::string name, LockRecord record, WaitQueue queue, NameExtras extras);
    void restore_newest(FencingToken token, ClosureId closure) {
        newest_token_ = token;
        newest_closure_ = closure;
    }

    // `unfinished`: names that are cleared in part.
    using Views = std::set<std::string_view>;
    void check_invariants(const Views& unfinished = {}) const;
    // (2) of those that wait for several names.
    void check_groups(const Views& unfinished) const;
    // (1)-(6) of one name; requires it to be there.
    void check_name(std::string_view name, bool is_unfinished) const;

private:
    using Queues = std::map<std::string, WaitQueue, std::less<>>;

    struct Slot {
        Records::iterator record;
        Queues::iterator queue;  // end() when nobody waits
    };

    [[nodiscard]] Slot slot_of(const std::string& name);
    [[nodiscard]] const Conversion* waiting_upgrade(const Slot& slot, OperationId hold) const;
    [[nodiscard]] bool is_left_by_too_many(const std::string& name, const HoldTerms& terms) const;
    FencingToken convert(LockRecord& record, OperationId hold);
    bool serve_conversion(Slot& slot, Grants& grants);
    void grant(const std::string& name, LockRecord& record, const Waiter& waiter, Grants& grants);
    void begin_terms(const std::string& name, const HoldTerms& terms, Grant& grant);
    void begin_closure(const std::string& name, const Closure& closure);
    [[nodiscard]] LockRecord::Keeps keeps_on(const std::string& name);
    bool stays_on(const std::string& name, const Grant& grant, Predecessor how);
    LockRecord& ensure(const std::string& name, QueuePolicy policy, Previous last);
    [[nodiscard]] Result refusal(const AcquireSeveral& request) const;
    Result acquire_all(const Waiter& waiter, const AcquireSeveral& request,
                       std::vector<Previous> last, Grants& grants);
    Result acquire_any(const Waiter& waiter, const AcquireSeveral& request,
                       std::vector<Previous> last, Grants& grants);
    Result settle_newcomer(const NameList& names, OperationId operation, Grants& grants);
    [[nodiscard]] bool may_spread(std::string_view name) const;
    void queue_up(const Waiter& waiter, const std::vector<NamedMode>& names);
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
    // Of each request for several names that waits: who it is, and its places.
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
    std::size_t value_bytes_ = 0;                // of all names
    std::map<ClosureId, std::string> closures_;  // on which name they are
    std::vector<Closed> begun_closures_;
    std::vector<ClosureId> ended_closures_;
    ClosureId newest_closure_;
    FencingToken newest_token_;
    LogIndex index_;
    std::uint64_t endings_ = 0;  // as begin() said: a new record has no older traces
    Names changes_;
    struct Entered {
        Ticket ticket;
        Priority priority = 0;
    };
    std::vector<Entered> entered_;  // in the step that is under way
    std::map<Ticket, Group> groups_;
    std::set<std::string> moved_;  // names where something changed, in the step that is under way
    std::set<std::string> todo_;   // names to look at
    const Ended* ended_ = nullptr;
    Gone gone_;
    Turned turned_;
};

}  // namespace mortise::core
