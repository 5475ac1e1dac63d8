// All commands of the log for the lock machine. An entry carries a batch of them
// (codec/command_codec). A Request is a request of a session about names; the other commands are
// about sessions themselves.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "core/access/identity.hpp"
#include "core/base/generation.hpp"
#include "core/base/ids.hpp"
#include "core/base/overloaded.hpp"
#include "core/base/short_list.hpp"
#include "core/locks/kinds/kinds.hpp"
#include "core/locks/limits.hpp"
#include "core/locks/lock_mode.hpp"
#include "core/locks/origin.hpp"

namespace mortise::core {

// The order in which the waiters of a name are granted (S31). It belongs to the record of the name.
enum class QueuePolicy : std::uint8_t {
    phase_fair,
    fifo,
    prefer_readers,  // like fifo, but first within a class (wait_queue.hpp)
    prefer_writers,
};

// Identifies an operation of a session, and the grant that it got (S19). Never reused.
struct OperationId {
    SessionId session;
    Seq seq;

    friend constexpr bool operator==(const OperationId&, const OperationId&) = default;
    friend constexpr auto operator<=>(const OperationId&, const OperationId&) = default;
};

// The locker of a request, if it has one (S22, S33).
struct LockerTag {
    std::uint64_t number = 0;  // unique in the session; zero: no locker
    std::string label;         // shown in wait cycles

    [[nodiscard]] bool is_set() const { return number != 0; }
    friend bool operator==(const LockerTag&, const LockerTag&) = default;
};

// The time limits of a hold, in milliseconds, at most term_ms_max. Zero means none.
struct HoldTerms {
    std::uint32_t max_hold_ms = 0;  // after this time the hold is lost (S8)
    // before this time has passed nobody else gets the name, however the hold ends (S8)
    std::uint32_t min_hold_ms = 0;
    std::uint32_t lock_delay_ms = 0;  // for this time nobody gets the name after a loss (S9)

    [[nodiscard]] bool is_set() const { return *this != HoldTerms{}; }
    friend constexpr bool operator==(const HoldTerms&, const HoldTerms&) = default;
};

// --- sessions -----------------------------------------------------------------------------------

// If it is repeated with the same nonce, it opens one session only. It counts as renewal 0 (S3).
struct OpenSession {
    std::uint64_t nonce = 0;  // random, drawn by the opener
    NodeId node;              // not set: a client (S49), which has no generation either
    Generation generation;    // of the opener, without its life
    std::uint32_t ttl_ms = 0;
    std::uint32_t rho_ppm = 0;  // clock rate bound in parts per million
    // The opener knows that the former process of its directory is dead (S10): its sessions end at
    // once.
    bool former_life_ended = false;
    // The access against which the session's requests are checked. The leader fills it in from the
    // certificate of the connection on which the command came; what the opener wrote there does not
    // count.
    Access access = Access::all();
    // Shown to readers. Only format 2 has it: in format 1 the session opens without.
    Origin origin{};
    friend bool operator==(const OpenSession&, const OpenSession&) = default;
};

struct Renewal {
    SessionId session;
    std::uint64_t number = 0;  // the number of the newest request; never reused in the session
    friend bool operator==(const Renewal&, const Renewal&) = default;
};

// The renewals of many sessions (S2).
struct Renew {
    std::vector<Renewal> renewals;
    friend bool operator==(const Renew&, const Renew&) = default;
};

// Ends the session, because the countdowns of a quorum for the renewal at this index have elapsed.
// It has no effect if the session was renewed since (S4).
struct Expire {
    SessionId session;
    LogIndex renewed_at;
    friend bool operator==(const Expire&, const Expire&) = default;
};

// Removes up to sweep_traces_max holders and waiters of ended sessions, on up to sweep_names_max
// names (S11).
struct Sweep {
    friend bool operator==(const Sweep&, const Sweep&) = default;
};

// The session's node has received every answer given at or below this index (S17). From here on the
// cluster counts the max_hold of what was granted up to there (S8).
struct Acknowledge {
    SessionId session;
    LogIndex received;
    friend bool operator==(const Acknowledge&, const Acknowledge&) = default;
};

// Ends the quorum timer, because the countdowns of a quorum for it have elapsed.
struct EndClosure {
    ClosureId closure;
    friend bool operator==(const EndClosure&, const EndClosure&) = default;
};

// The time at which a leader proposes the entry of which this is the first command, in milliseconds
// since 1970. It decides nothing: it is what people are told from when something is
// (docs/decisions/0080). Only in format 2.
struct Clock {
    std::uint64_t ms = 0;  // 1 to clock_ms_max
    friend bool operator==(const Clock&, const Clock&) = default;
};

// Tokens up to this one may be granted by entries that are not synced on a majority. An era
// continues above it (docs/decisions/0095). Only in format 2.
struct RaiseCeiling {
    FencingToken to;  // at most token_ceiling_max
    friend bool operator==(const RaiseCeiling&, const RaiseCeiling&) = default;
};

// --- requests -----------------------------------------------------------------------------------

// Most requests list their fields, which are their bytes in the log after their number
// (field_coding.hpp). A number never changes and is never reused; 29 is the clock, and
// 31 the ceiling of tokens. One with a
// `log_format` is not in older formats.

struct NamedMode {
    std::string name;
    LockMode mode = LockMode::exclusive;
    friend bool operator==(const NamedMode&, const NamedMode&) = default;
};

using Names = ShortList<std::string>;

// Asks for one name, or for several in one operation (S32), none of them twice. `any`: it gets the
// first free name in the order given. If none is free it waits in each queue like a request for
// that name alone, and gets the first name that becomes free. `all`, with the names in ascending
// order: it gets all of them or none. While it waits, no later request overtakes it in any of its
// queues, and it overtakes no other.
struct Acquire {
    enum class Which : std::uint8_t { any, all };

    ShortList<NamedMode> names;
    bool wait = true;  // false: if the name is busy, the answer says so, and nothing is queued
    QueuePolicy policy = QueuePolicy::phase_fair;  // for each name whose record it creates
    bool policy_given = false;  // true: it is refused if a record has another policy
    std::string label;          // shown to readers of the table and to the next holder
    Priority priority = 0;      // at most priority_max; has no effect for `all`
    LockerTag locker{};
    HoldTerms terms{};  // for each name that it gets
    Which which = Which::any;
    // Asks for a cached grant with so many tokens (S39), at most cached_tokens_max; zero: for an
    // ordinary one. Only for one name, shared or exclusive, without terms.
    std::uint32_t cached_tokens = 0;
    // Asks for so many permits of a semaphore (S34), at most permits_max; zero: for a lock. Only
    // for one name, exclusive, without a policy and without a locker: any holder can let such a
    // waiter in, so it takes no part in wait cycles.
    std::uint32_t permits = 0;
    // How many permits the semaphore has if this request creates it: 1 to semaphore_limit_max.
    // Zero, if and only if `permits` is.
    std::uint32_t limit = 0;
    friend bool operator==(const Acquire&, const Acquire&) = default;
};

[[nodiscard]] inline Names names_of(const Acquire& request) {
    Names names;
    for (const auto& one : request.names)
        names.push_back(one.name);
    return names;
}

// Releases the grant of that operation, with all its names, and nothing newer (S19). If the hold
// was broken, the release confirms that nobody at its node relies on it any more (S24).
struct Release {
    static constexpr std::uint8_t log_number = 10;

    Seq operation;
    bool lost = false;  // the owner did not release it: its time had ended (S6, S8)
    static void fields(auto& of, auto& self) {
        of.operation(self.operation);
        of.flag(self.lost);
    }
    friend bool operator==(const Release&, const Release&) = default;
};

// Ends the operation, whether it still waits in a queue or has its grant by now (S18).
struct Cancel {
    static constexpr std::uint8_t log_number = 11;

    Seq operation;
    static void fields(auto& of, auto& self) { of.operation(self.operation); }
    friend bool operator==(const Cancel&, const Cancel&) = default;
};

// Changes the mode of the operation's grant to one that conflicts with nothing that the present
// mode admits. It takes effect at once, and the grant keeps its token (S27). It is refused while an
// upgrade of the grant waits.
struct Downgrade {
    static constexpr std::uint8_t log_number = 12;

    Seq operation;
    LockMode mode = LockMode::shared;
    static void fields(auto& of, auto& self) {
        of.operation(self.operation);
        of.choice(self.mode, LockMode::exclusive);
    }
    friend bool operator==(const Downgrade&, const Downgrade&) = default;
};

// Changes the mode of the operation's grant to exclusive, with a new token (S27). A shared hold is
// upgraded only if nobody else holds the name. An update hold waits for the others: the upgrade is
// then an operation of its own, which a Cancel ends, and is granted before every other waiter
// (S28).
struct Upgrade {
    static constexpr std::uint8_t log_number = 13;

    Seq operation;
    bool wait = true;  // false: if there are other holders, the answer is busy
    static void fields(auto& of, auto& self) {
        of.operation(self.operation);
        of.flag(self.wait);
    }
    friend bool operator==(const Upgrade&, const Upgrade&) = default;
};

// Sets the value of a name that the operation holds exclusively; empty bytes remove it (S36). An
// operation that has lost its hold writes nothing.
struct SetValue {
    static constexpr std::uint8_t log_number = 14;

    Seq operation;
    std::string name;
    std::string bytes;  // at most value_bytes_max
    static void fields(auto& of, auto& self) {
        of.operation(self.operation);
        of.name(self.name);
        of.text(self.bytes, value_bytes_max);
    }
    friend bool operator==(const SetValue&, const SetValue&) = default;
};

// The exclusive holder of the name declares its value consistent: it is not dirty any more (S36).
struct MarkConsistent {
    static constexpr std::uint8_t log_number = 15;

    Seq operation;
    std::string name;
    static void fields(auto& of, auto& self) {
        of.operation(self.operation);
        of.name(self.name);
    }
    friend bool operator==(const MarkConsistent&, const MarkConsistent&) = default;
};

// Takes the name away from those that hold it under this token (S24). The name stays closed to
// others until the holders' nodes have confirmed the loss, or a quorum has counted down the last
// renewal before it; with `immediate` it opens at once.
struct BreakLock {
    static constexpr std::uint8_t log_number = 16;

    std::string name;
    FencingToken expected;
    std::string reason;
    bool immediate = false;
    // Identity::name() of the operator on whose behalf the session's node asks; empty if its own
    // program asks. It is only logged: the session itself needs the right to break.
    std::string asked_by{};
    static void fields(auto& of, auto& self) {
        of.flag(self.immediate);
        of.name(self.name);
        of.id(self.expected);
        of.text(self.reason, reason_bytes_max);
        of.text(self.asked_by, asked_by_bytes_max);
    }
    friend bool operator==(const BreakLock&, const BreakLock&) = default;
};

// Takes a session out, with all that it holds and waits for (S24). No renewal of it counts from now
// on, so it expires like one whose node is cut off: the leases of its holds run out first (S3, S4).
// With `immediate` it ends at once, while its node may still rely on its leases. Only in format 2.
struct EvictSession {
    static constexpr std::uint8_t log_number = 30;
    static constexpr std::uint8_t log_format = 2;

    SessionId session;
    std::string reason;
    bool immediate = false;
    std::string asked_by{};  // as in BreakLock
    static void fields(auto& of, auto& self) {
        of.flag(self.immediate);
        of.id(self.session);
        of.text(self.reason, reason_bytes_max);
        of.text(self.asked_by, asked_by_bytes_max);
    }
    friend bool operator==(const EvictSession&, const EvictSession&) = default;
};

// Asks the holders of the name to release it (S24). It changes nothing.
struct AskRelease {
    static constexpr std::uint8_t log_number = 17;

    std::string name;
    std::string reason;
    static void fields(auto& of, auto& self) {
        of.name(self.name);
        of.text(self.reason, reason_bytes_max);
    }
    friend bool operator==(const AskRelease&, const AskRelease&) = default;
};

// Makes a cached grant an ordinary one, because a caller of its node uses it and another request
// waits (S45): from now on it has the locker, the label and the token of that use.
struct Publish {
    Seq operation;
    FencingToken token;  // one of those that the grant reserved
    LockerTag locker{};
    std::string label{};
    bool ended = false;  // that was its last use, and a Release follows: a try waits for it
    friend bool operator==(const Publish&, const Publish&) = default;
};

// Removes the value of a name, and what it is if that is no lock, unless somebody holds the name or
// waits for it (S37). Nothing is left of the name then.
struct Remove {
    static constexpr std::uint8_t log_number = 24;

    std::string name;
    static void fields(auto& of, auto& self) { of.name(self.name); }
    friend bool operator==(const Remove&, const Remove&) = default;
};

// Replaces a request for which the leader had no capacity (P11). It does nothing and is answered
// with `resource_exhausted`, so that the requests behind it in the stream proceed.
struct Declined {
    static constexpr std::uint8_t log_number = 18;
    static void fields(auto& /*of*/, auto& /*self*/) {}
    friend bool operator==(const Declined&, const Declined&) = default;
};

// Ends the session in an orderly way and releases everything in this one command (S10). It is the
// last request of its stream.
struct CloseSession {
    static constexpr std::uint8_t log_number = 19;
    static void fields(auto& /*of*/, auto& /*self*/) {}
    friend bool operator==(const CloseSession&, const CloseSession&) = default;
};

// Those of the kinds of names are in the rooms of the kinds (kinds/kinds.hpp).
using RequestBody = KindRequests::Behind<Acquire, Release, Cancel, Downgrade, Upgrade, SetValue,
                                         MarkConsistent, BreakLock, AskRelease, Publish, Declined,
                                         CloseSession, Remove, EvictSession>;

[[nodiscard]] inline bool is_of_a_kind(const RequestBody& body) {
    return std::visit(
        Overloaded{[](const KindRequest auto&) { return true; }, [](const auto&) { return false; }},
        body);
}
// Such a request that waits, and then is answered that it passed.
[[nodiscard]] inline bool waits_for_others(const RequestBody& body) {
    return std::visit(Overloaded{[](const WaitingRequest auto& one) { return one.waits(); },
                                 [](const auto&) { return false; }},
                      body);
}

// A releasing request takes up no capacity, so a leader without capacity never declines it (S21,
// P11).
[[nodiscard]] inline bool is_releasing(const RequestBody& body) {
    return std::holds_alternative<Release>(body) || std::holds_alternative<Cancel>(body) ||
           std::holds_alternative<Downgrade>(body) || std::holds_alternative<Publish>(body) ||
           std::holds_alternative<Declined>(body) || std::holds_alternative<CloseSession>(body) ||
           std::holds_alternative<Quit>(body);
}

// The requests of a session are one stream, numbered 1, 2, 3, ... without a gap. A request takes
// effect when its number follows the newest one that was applied, and at most once (S17). With a
// larger number it has no effect at all, and its node sends it again.
struct Request {
    SessionId session;
    Seq seq;
    RequestBody body;
    friend bool operator==(const Request&, const Request&) = default;
};

using Command = std::variant<OpenSession, Renew, Expire, Sweep, Acknowledge, Request, EndClosure,
                             Clock, RaiseCeiling>;

// Nobody may forget it once it is acknowledged, so its entry is sealed (docs/decisions/0095).
[[nodiscard]] inline bool has_to_be_sealed(const Command& command) {
    return std::holds_alternative<OpenSession>(command) ||
           std::holds_alternative<RaiseCeiling>(command);
}

}  // namespace mortise::core
