// Names, who holds them and who waits (S13, S26-S31, S37). Knows nothing of sessions: whoever
// calls has first cleared the name of those that ended. Every replica applies the same calls in the
// same order and must reach the same state, so nothing here reads a clock, draws a random number or
// walks an unordered container.
//
// Invariants, checked by check_invariants():
//   (1) the modes of all holders of a name are pairwise compatible (P2);
//   (2) a name that has waiters has a holder, and nobody waits who could enter;
//   (3) no token is above the cluster's counter; exclusive grants of a name only rise (P1);
//   (4) a record has a holder or a waiter (S37);
//   (5) whose upgrade waits holds the name for update, and is not alone (S27).
// A name that is cleared by and by, with something left to clear, is excepted from the second half
// of (2).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/locks/lock_record.hpp"
#include "core/locks/wait_queue.hpp"

namespace mortise::core {

struct NewGrant {
    OperationId operation;
    FencingToken token;
    Previous previous;
};

class LockTable {
public:
    enum class Result : std::uint8_t { granted, queued, busy, kind_mismatch, resource_exhausted };
    using Grants = std::vector<NewGrant>;

    // The entry whose commands come next: what they grant is granted there.
    void begin(LogIndex index) { index_ = index; }

    // On `granted` the grant is one of `grants`: by its priority it may let others in with it. On
    // `queued` the operation comes back through the `grants` of some later call. `busy` leaves
    // nothing behind (S20). `last` is who had the name before, in case that nothing is left there
    // to tell.
    Result acquire(Ticket ticket, OperationId operation, const Acquire& request, Previous last,
                   Grants& grants);
    // Frees one grant. False, and nothing happens, when there is none.
    bool release(const std::string& name, OperationId operation, Predecessor how, Grants& grants);
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
    // Takes a waiter out; requires that it waits.
    void withdraw(const std::string& name, Ticket ticket, Grants& grants);
    // Removes the holders and waiters of ended sessions, unless that was done since the last
    // ending: at most `max` of them, and nobody is let in before all are gone. `ended` says how an
    // operation's session ended, or that it lives.
    using Ended = LockRecord::Left;
    struct Cleared {
        std::vector<OperationId> gone;
        bool is_done = true;  // false: there are more
        Previous last;        // the last of them to leave, when it is done
    };
    Cleared clear(const std::string& name, std::uint64_t endings, const Ended& ended,
                  std::size_t max, Grants& grants);

    [[nodiscard]] const LockRecord* find(std::string_view name) const;
    [[nodiscard]] const WaitQueue* queue_of(std::string_view name) const;
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

    // For loading. False, and nothing happens, when the name is there.
    bool restore(std::string name, LockRecord record, WaitQueue queue);
    void restore_newest(FencingToken token) { newest_token_ = token; }

    // `unfinished`: names that are cleared in part.
    using Views = std::set<std::string_view>;
    void check_invariants(const Views& unfinished = {}) const;
    // (1)-(4) of one name; requires it to be there.
    void check_name(std::string_view name, bool is_unfinished) const;

private:
    using Queues = std::map<std::string, WaitQueue, std::less<>>;

    struct Slot {
        Records::iterator record;
        Queues::iterator queue;  // end() when nobody waits
    };

    [[nodiscard]] Slot slot_of(const std::string& name);
    [[nodiscard]] const Conversion* waiting_upgrade(const Slot& slot, OperationId hold) const;
    FencingToken convert(LockRecord& record, OperationId hold);
    bool serve_conversion(Slot& slot, Grants& grants);
    void grant(LockRecord& record, const Waiter& waiter, Grants& grants);
    void enter(Slot& slot, const Waiter& waiter, Grants& grants);
    bool enter_batch(Slot& slot, Grants& grants);
    bool turn_phase(Slot& slot, Grants& grants);
    bool enter_unhindered(Slot& slot, Grants& grants);
    void count_overtakings(WaitQueue& queue);
    bool let_in(Slot& slot, Grants& grants);
    void settle(const std::string& name, Grants& grants);
    static void check_conversion(const LockRecord& record, const Conversion& conversion,
                                 bool is_unfinished);
    static void check_waiters(const LockRecord& record, const WaitQueue& queue);

    Records records_;
    Queues queues_;
    FencingToken newest_token_;
    LogIndex index_;
    std::uint64_t endings_ = 0;  // of the last clear(): a new record has no older traces
    Names changes_;
    struct Entered {
        Ticket ticket;
        Priority priority = 0;
    };
    std::vector<Entered> entered_;  // in the step that is under way
};

}  // namespace mortise::core
