// What the program around a node asks of it, and what it is told.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/access/denial.hpp"
#include "core/base/instant.hpp"
#include "core/locks/machine/lock_machine.hpp"
#include "core/raft/configuration_change.hpp"

namespace mortise::core {

// Names one call until its answer. Chosen by the caller, used once; zero: nobody waits.
using CallTag = Id<struct CallKind>;

// Requires one name at least, and at most names_at_once_max.
struct AcquireCall {
    CallTag tag;
    Acquire request;
    // Of the steady clock: how long it may wait for the lock. Never: until cancelled (S48).
    Instant deadline = Instant::never();
    // Once its lease has run out the hold is suspended instead of lost: it is held again when a
    // renewal gets through, and lost with the session (S6).
    bool suspends = false;
};

// From when this is called the hold must not be used as if it had its former mode: it is asked for
// until the cluster has done it, however late the answer is (S27).
struct DowngradeCall {
    CallTag tag;
    OperationId hold;
    LockMode mode = LockMode::shared;
    // Of an upgrade that was granted when its caller had given up: so it is never refused for want
    // of room, nor because somebody upgrades it once more.
    bool undoes = false;
};

// To exclusive (S27). The hold stays in its mode meanwhile, and whenever this comes to nothing.
struct UpgradeCall {
    CallTag tag;
    OperationId hold;
    bool wait = true;
    Instant deadline = Instant::never();
};

// What is for others to see: a SetValue or MarkConsistent for a hold of this node's (S36), a
// BreakLock or an AskRelease (S24). When it was sent and no answer came in time its outcome is
// unknown.
struct WriteCall {
    CallTag tag;
    OperationId hold;  // not set for what is about anybody's
    RequestBody body;
};

// Answered once a renewal that was asked for after this call went through, so that the hold is held
// for a good while from then on.
struct ConfirmCall {
    CallTag tag;
    OperationId hold;
    Instant deadline;  // of the steady clock
};

// From now on, and if somebody waits already, the hold's owner is told in Contended (S24). Answers
// nothing; does nothing for what is not held.
struct WatchCall {
    CallTag tag;  // zero
    OperationId hold;
};

// Ends a waiting acquire or upgrade with `cancelled` (S18). Answers nothing itself.
struct CancelCall {
    CallTag tag;
};

struct ReleaseCall {
    CallTag tag;  // zero for destructors and unlock() (S21)
    OperationId hold;
    bool lost = false;  // its program lost it: no orderly end, and its owner is to be told (S6, S8)
};

// What the owner of this hold registered for its loss was run: others may have what it had (S6).
// Answers nothing; does nothing for what was not lost, or was given back meanwhile.
struct ToldCall {
    CallTag tag;  // zero
    OperationId hold;
};

// Linearizable unless `local` (S46). `name` exactly, or every name with that prefix.
struct InspectCall {
    CallTag tag;
    std::string name;
    bool is_prefix = false;
    bool local = false;
    std::string after;
    std::size_t limit = 1;
    std::size_t parties_max = SIZE_MAX;  // as LockMachine::list
};

// Releases everything in one command and ends the session (S10).
struct CloseCall {
    CallTag tag;
};

// Changes the membership, or who leads. Whatever passes by itself is waited for: a newcomer that
// has not caught up, a change that is under way.
struct ChangeCall {
    CallTag tag;
    MembershipGoal goal;
    Instant deadline;  // of the steady clock
};

using Call = std::variant<AcquireCall, CancelCall, ReleaseCall, InspectCall, CloseCall, ChangeCall,
                          DowngradeCall, UpgradeCall, WriteCall, ConfirmCall, WatchCall, ToldCall>;

[[nodiscard]] inline CallTag tag_of(const Call& call) {
    return std::visit([](const auto& c) { return c.tag; }, call);
}

// --- answers
// --------------------------------------------------------------------------------------

// One hold, which is released as one.
struct Acquired {
    struct Part {
        std::string name;
        LockMode mode = LockMode::exclusive;
        FencingToken token;
        Previous previous;
    };
    OperationId hold;
    ShortList<Part> parts;  // all names that were asked for, rising, or the one of any
    Acquire::Which which = Acquire::Which::any;
    bool suspends = false;            // as in AcquireCall
    Instant ends = Instant::never();  // by its max_hold, of the boot clock: lost by then (S8)
};

// The hold has the mode that was asked for.
struct Converted {
    FencingToken token;
};

// Of a WriteCall: it is so.
struct Written {};

struct Confirmed {};

// A try that found the name taken: an answer, no error. Of an upgrade, that others hold it as well.
struct Busy {
    LockView seen;  // when it was taken is not known: only its name. Empty for an upgrade.
};

struct Released {};

struct Viewed {
    std::vector<LockView> locks;
};

struct Closed {};

// It is so now, and committed.
struct Changed {
    friend bool operator==(const Changed&, const Changed&) = default;
};

// Why a call did not do what it was asked for. Each has its Errc in the public API.
enum class CallError : std::uint8_t {
    timed_out,
    cancelled,
    session_expired,
    lock_lost,
    not_held,
    outcome_unknown,
    no_quorum,
    resource_exhausted,
    kind_mismatch,
    node_stopped,
    deadlock,
    invalid_argument,
};

// Refused, for its wait closed this circle (S33).
struct Deadlocked {
    std::vector<CircleStep> circle;
};

struct CallAnswer {
    CallTag tag;
    std::variant<Acquired, Busy, Released, Viewed, Closed, Changed, MembershipRefusal, CallError,
                 Converted, Written, Confirmed, Deadlocked, Denied>
        result;
};

// A hold ended without being released (S6).
struct HoldLost {
    // `expired` with its lease, as all that hang on that one; `over` by its own max_hold.
    enum class Reason : std::uint8_t { expired, node_stopped, broken, over };
    OperationId hold;
    Reason reason = Reason::expired;
};

// Somebody waits for what this hold has, and began to just now, or when it was granted; or somebody
// asks for it (S24).
struct Contended {
    OperationId hold;
    LockMode mode = LockMode::exclusive;  // that is wanted first; who only asks wants all of it
    std::size_t waiters = 0;              // on that name
    std::string reason;                   // of who asks
    friend bool operator==(const Contended&, const Contended&) = default;
};

// This node's session and until when (boot clock) its holds may trust it. Told when it changes.
struct LeaseChanged {
    SessionId session;
    Instant valid_until;
};

}  // namespace mortise::core
