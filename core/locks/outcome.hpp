// The outcomes of a batch, in the order in which they happened. They are the same on every replica;
// each node uses those of its own session.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/base/ids.hpp"
#include "core/locks/command.hpp"
#include "core/locks/kinds/kind.hpp"
#include "core/locks/name_extras.hpp"

namespace mortise::core {

// How the previous holder's hold ended (S23).
enum class Predecessor : std::uint8_t { none, clean, expired, broken };

struct Previous {
    Predecessor how = Predecessor::none;
    std::string label;
    FencingToken token;

    friend bool operator==(const Previous&, const Previous&) = default;
};

// How the session of a hold ended.
struct Departure {
    Predecessor how = Predecessor::clean;
    std::string label;  // of its holds that have none, for the next holder (S23)
};

struct NamedGrant {
    std::string name;
    FencingToken token;
    Previous previous;
    Slots slots{};  // of permits; otherwise empty
    friend bool operator==(const NamedGrant&, const NamedGrant&) = default;
};

// One step of a wait cycle: each waits for the next (S33).
struct CycleStep {
    NodeId node;
    SessionId session;
    std::uint64_t locker = 0;  // zero: no locker
    std::string label;         // the locker's, or else the request's
    std::string waits_for;     // the name
    friend bool operator==(const CycleStep&, const CycleStep&) = default;
};

// Kept in the session until the node has acknowledged it, so that a repeated request gets the same
// answer (S17).
struct Answer {
    AnswerKind kind = AnswerKind::granted;
    FencingToken token;  // granted, converted
    Previous previous;   // granted
    // granted, to an Acquire of several names, of `all`, or of permits: a token and a previous
    // holder for each name, in place of the two above.
    std::vector<NamedGrant> names{};
    // deadlock: begins with the request that is answered; the last waits for the first, unless the
    // cycle is longer than cycle_steps_max or cycle_bytes_max. Empty for an upgrade that never
    // waited.
    std::vector<CycleStep> cycle{};
    // granted: how many tokens the grant reserves, from `token` on; zero if it is not cached (S39).
    std::uint32_t cached_tokens = 0;

    friend bool operator==(const Answer&, const Answer&) = default;
};

// The final answer to a request. An Acquire, Upgrade or AwaitLatch that has to wait has none yet,
// and is Queued. Apart from those that waited, and from repeats, the requests of a session are
// answered in the order of their numbers.
struct Answered {
    OperationId operation;
    Answer answer;
    friend bool operator==(const Answered&, const Answered&) = default;
};

struct Queued {
    OperationId operation;
    friend bool operator==(const Queued&, const Queued&) = default;
};

// Also for a repeated OpenSession.
struct SessionOpened {
    SessionId session;
    std::uint64_t nonce = 0;
    friend bool operator==(const SessionOpened&, const SessionOpened&) = default;
};

enum class OpenRefusal : std::uint8_t {
    epoch_not_newer,  // than an earlier one (S10): a copied or restored directory
    table_full,       // of sessions (P11): later there may be capacity
    era,              // forgotten holders may still rely on their leases (Eras): later they do not
};

struct OpenRefused {
    std::uint64_t nonce = 0;
    OpenRefusal why = OpenRefusal::epoch_not_newer;
    friend bool operator==(const OpenRefused&, const OpenRefused&) = default;
};

struct SessionRenewed {
    SessionId session;
    std::uint64_t number = 0;
    // Holds that were broken and not confirmed since: their leases are not extended (S24).
    // Ascending.
    std::vector<Seq> broken{};
    friend bool operator==(const SessionRenewed&, const SessionRenewed&) = default;
};

// A renewal came too late (S3): everything of that session is lost.
struct RenewalLost {
    SessionId session;
    friend bool operator==(const RenewalLost&, const RenewalLost&) = default;
};

enum class SessionEnd : std::uint8_t { closed, expired, former_life };

struct SessionEnded {
    SessionId session;
    SessionEnd how = SessionEnd::closed;
    friend bool operator==(const SessionEnded&, const SessionEnded&) = default;
};

// A lock was broken (S24): for the log of events, and for the nodes of the holders.
struct LockBroken {
    OperationId by;
    std::string name;
    FencingToken token;
    std::vector<OperationId> holds;  // oldest first
    std::string reason;
    bool immediate = false;
    std::string asked_by{};  // as in BreakLock
    friend bool operator==(const LockBroken&, const LockBroken&) = default;
};

// A session was evicted (S24): for the log of events, for its node, which gives everything back,
// and for the leader, which waits for none of its renewals any more.
struct SessionEvicted {
    OperationId by;
    SessionId session;
    NodeId node;  // of the session; not set: a client
    std::string reason;
    bool immediate = false;
    std::string asked_by{};  // as in EvictSession
    friend bool operator==(const SessionEvicted&, const SessionEvicted&) = default;
};

// The holders are asked to release the name (S24); their nodes notify them.
struct ReleaseAsked {
    OperationId by;
    std::string name;
    std::vector<OperationId> holds;  // oldest first
    std::string reason;
    friend bool operator==(const ReleaseAsked&, const ReleaseAsked&) = default;
};

// A quorum begins to count down a time (S4); for a broken hold it counts from `since` on.
struct ClosureBegun {
    ClosureId closure;
    Closure::Kind kind = Closure::Kind::broken;
    std::string name;
    OperationId hold;
    LogIndex since;
    std::uint32_t time_ms = 0;
    std::uint32_t rho_ppm = 0;
    friend bool operator==(const ClosureBegun&, const ClosureBegun&) = default;
};

// The time need not be counted any more.
struct ClosureEnded {
    ClosureId closure;
    friend bool operator==(const ClosureEnded&, const ClosureEnded&) = default;
};

using Outcome = std::variant<Answered, Queued, SessionOpened, OpenRefused, SessionRenewed,
                             RenewalLost, SessionEnded, LockBroken, ClosureBegun, ClosureEnded,
                             ReleaseAsked, SessionEvicted>;
using Outcomes = std::vector<Outcome>;

}  // namespace mortise::core
