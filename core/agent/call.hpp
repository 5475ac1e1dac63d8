// The calls of the program to its node, and the answers and notifications that it gets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/access/denial.hpp"
#include "core/base/instant.hpp"
#include "core/locks/command.hpp"
#include "core/locks/machine/lock_view.hpp"
#include "core/locks/outcome.hpp"
#include "core/raft/configuration_change.hpp"

namespace mortise::core {

// Requires at least one name, and at most names_at_once_max.
struct AcquireCall {
    CallTag tag;
    Acquire request;
    // How long the call may wait for the lock, on the steady clock. With never() it waits until it
    // is cancelled (S48).
    Instant deadline = Instant::never();
    // When the lease has ended, the hold is suspended instead of lost: a renewal that is applied
    // later makes it valid again, and it is lost with the session (S6).
    bool suspends = false;

    // The embedding reads the rest when it gets the answer; the core does not.
    Nanoseconds progress_timeout{0};  // of the hold (S8); zero: none
    bool may_be_cached = false;       // the grant (S39)
    Instant began{};                  // when the caller began to wait, on the steady clock
};

// From this call on, the program must not use the hold in its former mode: the request is resent
// until the cluster has applied it, however late that is (S27).
struct DowngradeCall {
    CallTag tag;
    OperationId hold;
    LockMode mode = LockMode::shared;
    // The downgrade undoes an upgrade that was granted after its caller had given up. It is
    // therefore never refused for lack of capacity or because of another pending upgrade.
    bool undoes = false;
};

// Upgrades a hold to exclusive (S27). The hold keeps its mode until the grant, and if the upgrade
// fails.
struct UpgradeCall {
    CallTag tag;
    OperationId hold;
    bool wait = true;
    Instant deadline = Instant::never();
};

// Waits for others and holds nothing then: an AwaitLatch, or an Arrive that does not drop (S35).
struct AwaitCall {
    CallTag tag;
    RequestBody body;
    Instant deadline = Instant::never();  // as in AcquireCall
};

// Changes what others see: a SetValue or MarkConsistent for a hold of this node (S36), a BreakLock,
// an EvictSession or an AskRelease (S24), a Resize or a Remove (S34, S37), a CountDown, or an
// Arrive that drops (S35). If it was sent and no answer came in time, its outcome is unknown.
struct WriteCall {
    CallTag tag;
    OperationId hold;  // not set if the request may concern any hold
    RequestBody body;
};

// Answered when a renewal that was requested after this call has been applied, so that the hold is
// valid for most of a lease from then on.
struct ConfirmCall {
    CallTag tag;
    OperationId hold;
    Instant deadline;  // on the steady clock
};

// From this call on, the owner of the hold gets Contended when another session waits, and at once
// if one waits already (S24). The call has no answer, and does nothing if the hold does not exist.
struct WatchCall {
    CallTag tag;  // zero
    OperationId hold;
};

// A caller of this node uses a cached grant, and another request waits for it: the cluster is told
// who the caller is (S45). The call has no answer, and does nothing if the hold does not exist.
struct PublishCall {
    CallTag tag;  // zero
    OperationId hold;
    FencingToken token;
    LockerTag locker{};
    std::string label{};
    bool ended = false;  // a ReleaseCall follows
};

// Ends a waiting acquire, upgrade or AwaitCall with `cancelled` (S18). The cancel itself has no
// answer.
struct CancelCall {
    CallTag tag;
};

struct ReleaseCall {
    CallTag tag;  // zero for destructors and unlock() (S21)
    OperationId hold;
    // the program treats it as lost: an unclean end, and the owner is to be notified (S6, S8)
    bool lost = false;
};

// The callback for the loss of this hold has run, so other sessions may be granted its names (S6).
// The call has no answer, and does nothing if the hold was not lost or was released meanwhile.
struct ToldCall {
    CallTag tag;  // zero
    OperationId hold;
};

// A linearizable read unless `local` (S46), of the name `name` or of every name with that prefix.
struct InspectCall {
    CallTag tag;
    std::string name;
    bool is_prefix = false;
    bool local = false;
    std::string after;
    std::size_t limit = 1;
    std::size_t parties_max = SIZE_MAX;  // as in LockMachine::list
};

// Releases all holds in one command and ends the session (S10). That waits until the owners of the
// holds in `to_notify` were notified of their losses, for a limited time (S6). Nobody has to be
// notified of the other holds.
struct CloseCall {
    CallTag tag;
    std::vector<OperationId> to_notify{};  // each once
};

// Changes the membership, or transfers the leadership. The call waits for conditions that resolve
// by themselves: a new member that has not caught up, or another change in progress.
struct ChangeCall {
    CallTag tag;
    MembershipGoal goal;
    Instant deadline;  // on the steady clock
    // The index of the configuration on which the caller based its decision. If another
    // configuration is in force, the call changes nothing. Not set: the call first asks for the
    // present configuration, as a person's call does.
    LogIndex seen{};
};

using Call = std::variant<AcquireCall, CancelCall, ReleaseCall, InspectCall, CloseCall, ChangeCall,
                          DowngradeCall, UpgradeCall, WriteCall, ConfirmCall, WatchCall,
                          PublishCall, ToldCall, AwaitCall>;

[[nodiscard]] inline CallTag tag_of(const Call& call) {
    return std::visit([](const auto& c) { return c.tag; }, call);
}

// --- answers ------------------------------------------------------------------------------------

// One hold. All of its names are released together.
struct Acquired {
    struct Part {
        std::string name;
        LockMode mode = LockMode::exclusive;
        FencingToken token;
        Previous previous;
        Slots slots{};  // of permits; otherwise empty
    };
    OperationId hold;
    ShortList<Part> parts;  // all requested names in ascending order, or the one that was granted
    Acquire::Which which = Acquire::Which::any;
    bool suspends = false;            // as in AcquireCall
    std::uint32_t cached_tokens = 0;  // as in Answer
    Instant ends = Instant::never();  // its max_hold, on the boot clock: lost by then (S8)
    // A cached grant has these two, as in Acquire.
    LockerTag locker{};
    std::string label{};
};

// The hold has the requested mode.
struct Converted {
    FencingToken token;
};

// The answer to a WriteCall that took effect.
struct Written {};

struct Confirmed {};

// The answer to an AwaitCall: what it waited for has happened.
struct Passed {};

// A try found the name taken. This is an answer, not an error. For an upgrade, other sessions hold
// the name as well; for a Resize, the limit has another version; for a Remove, the name is in use.
struct Busy {
    // Only its name is known here, not since when it is held. Empty unless a try was asked for.
    LockView seen;
};

struct Released {};

struct Viewed {
    std::vector<LockView> locks;
};

struct Closed {};

// The change is committed.
struct Changed {
    friend bool operator==(const Changed&, const Changed&) = default;
};

// Why a call failed. Each value has its Errc in the public API.
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

// The request was refused because its wait would have completed this cycle (S33).
struct Deadlocked {
    std::vector<CycleStep> cycle;
};

struct CallAnswer {
    CallTag tag;
    std::variant<Acquired, Busy, Released, Viewed, Closed, Changed, MembershipRefusal, CallError,
                 Converted, Written, Confirmed, Deadlocked, Denied, Passed>
        result;
};

// A hold ended without a release (S6).
struct HoldLost {
    // `expired`: its lease ended, and with it all holds of the session. `over`: its max_hold ended.
    enum class Reason : std::uint8_t { expired, node_stopped, broken, over };
    OperationId hold;
    Reason reason = Reason::expired;
};

// Another session waits for a name of this hold, since just now or since before the grant; or a
// caller asks for its release (S24).
struct Contended {
    OperationId hold;
    LockMode mode = LockMode::exclusive;  // the mode of the first waiter; exclusive for AskRelease
    std::size_t waiters = 0;              // for that name
    std::string reason;                   // given by the caller of AskRelease
    friend bool operator==(const Contended&, const Contended&) = default;
};

// The session of this node, and until when its holds may rely on the lease (boot clock). Sent on
// each change.
struct LeaseChanged {
    SessionId session;
    Instant valid_until;
};

}  // namespace mortise::core
