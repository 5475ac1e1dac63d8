// Everything that applying a batch can bring about, in the order in which it happened. The same on
// every replica; each node picks what concerns its own session.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/base/ids.hpp"
#include "core/locks/command.hpp"
#include "core/locks/name_extras.hpp"

namespace mortise::core {

// How the holder before left (S23).
enum class Predecessor : std::uint8_t { none, clean, expired, broken };

struct Previous {
    Predecessor how = Predecessor::none;
    std::string label;
    FencingToken token;

    friend bool operator==(const Previous&, const Previous&) = default;
};

enum class AnswerKind : std::uint8_t {
    granted,        // Acquire, at once or later
    busy,           // Acquire without waiting
    released,       // Release; Cancel that came after the grant
    cancelled,      // Cancel; Acquire or Upgrade that a Cancel ended; Upgrade of a hold that left
    not_held,       // all but Acquire: nothing there (any more)
    stale_request,  // answered long ago, and acknowledged (S17)
    kind_mismatch,  // Acquire: the record has another policy
    resource_exhausted,  // Acquire: the table is full, or its session has too much; Declined
    converted,           // Downgrade, Upgrade: at once or later
    deadlock,            // Upgrade of a shared hold that is not the only one; or whoever waits in a
                         // circle and was chosen to leave it (S33)
    invalid_argument,    // Downgrade, Upgrade: not from that mode, while an upgrade waits, or of
                         // several names; AcquireSeveral: names out of order, or twice; SetValue,
                         // MarkConsistent: not held exclusively
    stored,              // SetValue, MarkConsistent
    broken,              // BreakLock
    lost,                // Release, Cancel: it had been broken, which is confirmed by this
    asked,               // AskRelease
    permission_denied,   // Acquire, BreakLock, AskRelease: the session's access does not allow it
};
constexpr auto last_answer_kind = AnswerKind::permission_denied;

// Of these an answer tells the token.
constexpr bool has_token(AnswerKind kind) {
    return kind == AnswerKind::granted || kind == AnswerKind::converted;
}

struct NamedGrant {
    std::string name;
    FencingToken token;
    Previous previous;
    friend bool operator==(const NamedGrant&, const NamedGrant&) = default;
};

// One of those who wait in a circle, each for the next (S33).
struct CircleStep {
    NodeId node;
    SessionId session;
    std::uint64_t locker = 0;  // zero: of no locker
    std::string label;         // the locker's, or else the request's
    std::string waits_for;     // the name
    friend bool operator==(const CircleStep&, const CircleStep&) = default;
};

// Kept in the session until the answer was received, so that a repeat gets the same one (S17).
struct Answer {
    AnswerKind kind = AnswerKind::granted;
    FencingToken token;  // granted, converted
    Previous previous;   // granted
    // Granted to an AcquireSeveral, instead of those: what it has, by name.
    std::vector<NamedGrant> names{};
    // deadlock: begins with whom the answer is for; the last waits for the first, unless the circle
    // is longer than circle_steps_max or circle_bytes_max. Empty for an upgrade that never waited.
    std::vector<CircleStep> circle{};

    friend bool operator==(const Answer&, const Answer&) = default;
};

// The final answer to a request. An Acquire or Upgrade that has to wait has none yet, and is
// Queued. Apart from those that waited, and from repeats, the requests of a session are answered in
// the order of their numbers.
struct Answered {
    OperationId operation;
    Answer answer;
    friend bool operator==(const Answered&, const Answered&) = default;
};

struct Queued {
    OperationId operation;
    friend bool operator==(const Queued&, const Queued&) = default;
};

// Also for a repeat of the same OpenSession.
struct SessionOpened {
    SessionId session;
    std::uint64_t nonce = 0;
    friend bool operator==(const SessionOpened&, const SessionOpened&) = default;
};

enum class OpenRefusal : std::uint8_t {
    epoch_not_newer,  // than one seen before (S10): a copied or restored directory
    table_full,       // of sessions (P11): later there may be room
};

struct OpenRefused {
    std::uint64_t nonce = 0;
    OpenRefusal why = OpenRefusal::epoch_not_newer;
    friend bool operator==(const OpenRefused&, const OpenRefused&) = default;
};

struct SessionRenewed {
    SessionId session;
    std::uint64_t number = 0;
    // What was broken and not confirmed since: no lease of these is extended (S24). Rising.
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

// S24, for the record, and for the nodes whose holds these were.
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

// S24: their nodes pass it on.
struct ReleaseAsked {
    OperationId by;
    std::string name;
    std::vector<OperationId> holds;  // oldest first
    std::string reason;
    friend bool operator==(const ReleaseAsked&, const ReleaseAsked&) = default;
};

// From here on a quorum counts down a time (S4); of a hold that was broken, from `since` on.
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

// Nobody need count it any more.
struct ClosureEnded {
    ClosureId closure;
    friend bool operator==(const ClosureEnded&, const ClosureEnded&) = default;
};

using Outcome =
    std::variant<Answered, Queued, SessionOpened, OpenRefused, SessionRenewed, RenewalLost,
                 SessionEnded, LockBroken, ClosureBegun, ClosureEnded, ReleaseAsked>;
using Outcomes = std::vector<Outcome>;

}  // namespace mortise::core
