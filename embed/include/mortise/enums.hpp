// The enumerations of the API.
#pragma once

#include <cstdint>
#include <string_view>

namespace mortise {

// The mode in which a name is held. The common ones are shared, update and exclusive. `update`
// reads now and will be upgraded to `exclusive` later; the intent modes announce that finer names
// below this one are locked. Which modes are compatible:
//
//   held \ wanted            IS   IX   S    SIX  U    X
//   intent_shared            yes  yes  yes  yes  yes  no
//   intent_exclusive         yes  yes  no   no   no   no
//   shared                   yes  no   yes  no   yes  no
//   shared_intent_exclusive  yes  no   no   no   no   no
//   update                   yes  no   yes  no   no   no
//   exclusive                no   no   no   no   no   no
enum class LockMode : std::uint8_t {
    intent_shared,
    intent_exclusive,
    shared,
    shared_intent_exclusive,
    update,
    exclusive,
};

// The order in which the waiters of a name are granted. It belongs to the name: the request that
// creates the name sets it, and a different one later fails with Errc::kind_mismatch.
enum class QueuePolicy : std::uint8_t {
    phase_fair,  // readers and writers take turns; nobody starves
    fifo,        // no request overtakes an earlier one that conflicts with it
    prefer_readers,
    prefer_writers,
};

enum class HoldState : std::uint8_t {
    held,
    at_risk,    // a renewal of the lease is overdue; the lease still runs
    suspended,  // the lease has ended; the hold waits for a late renewal (OnUncertain::suspend)
    lost,       // for ever
    released,   // also an empty hold
};

// Why a hold was lost.
enum class LossReason : std::uint8_t {
    none,          // it is not lost
    expired,       // the lease was not renewed in time, or a time limit of the hold passed
    broken,        // an administrator took it away
    node_stopped,  // the node was closed, or it failed
    forked,        // this process is the child of a fork
};

// How the previous holder's hold ended.
enum class Predecessor : std::uint8_t {
    none,     // no previous holder is recorded
    clean,    // it was released
    expired,  // it expired: what it protected may be half done
    broken,   // an administrator took it away
};

// Why a name cannot be granted although its holders would allow it.
enum class ClosedBy : std::uint8_t {
    broken,      // it was taken from a holder whose node has not confirmed that yet (S24)
    min_hold,    // its hold was released before its min_hold was over (S8)
    lock_delay,  // its hold was lost, and had a lock_delay (S9)
};

// --- what a caller may choose for a single call

// When the name becomes free after break_lock().
enum class BreakMode : std::uint8_t {
    // when the former holder's node has confirmed, or cannot rely on the hold any more
    confirmed,
    immediate,  // at once, while the former holder may still rely on its hold
};

// Whether this node may keep the grant of a released hold for its next acquire of the name.
enum class Caching : std::uint8_t {
    adaptive,  // if the node takes the name again and again, and no other node does
    off,
};

// What happens to a hold whose lease has ended, as long as the cluster has not ended its session.
enum class OnUncertain : std::uint8_t {
    lose,     // it is lost
    suspend,  // it is suspended: not valid, but held again if the lease can still be renewed
};

enum class ReadLevel : std::uint8_t {
    linearizable,  // includes everything that was answered before the call; needs a majority
    local,         // the state of this node, which may be old
};

// --- nodes

// The part of a node in its cluster; see Standing for its part in Raft.
enum class Role : std::uint8_t {
    voter,
    learner,  // keeps a copy without a vote
    client,   // no member: it keeps no copy, and uses a session by way of any member
};

// The part of a node in Raft at this moment; see Role for its part in the membership.
enum class Standing : std::uint8_t {
    follower,
    pre_candidate,  // asks whether it would win an election
    candidate,
    leader,
};

// The level of a log line, and the threshold from which lines are written; `off` is only a
// threshold.
// What a name is used as.
enum class NameKind : std::uint8_t { lock, semaphore, latch, barrier };

enum class LogLevel : std::uint8_t { debug, info, warn, error, off };

// How the lines of a log on standard error look.
enum class LogFormat : std::uint8_t {
    text,
    json,  // one object on each line
};

// What the answer to a call waits for.
enum class Durability : std::uint8_t {
    synced,      // the disks of a majority of the members
    replicated,  // their memories; the disks follow within Config::sync_interval
};

// The name of the enumerator as written above; "unknown" for any other value.
[[nodiscard]] std::string_view to_string(LockMode mode) noexcept;
[[nodiscard]] std::string_view to_string(QueuePolicy policy) noexcept;
[[nodiscard]] std::string_view to_string(HoldState state) noexcept;
[[nodiscard]] std::string_view to_string(LossReason reason) noexcept;
[[nodiscard]] std::string_view to_string(Predecessor how) noexcept;
[[nodiscard]] std::string_view to_string(ClosedBy why) noexcept;
[[nodiscard]] std::string_view to_string(BreakMode mode) noexcept;
[[nodiscard]] std::string_view to_string(OnUncertain choice) noexcept;
[[nodiscard]] std::string_view to_string(Caching caching) noexcept;
[[nodiscard]] std::string_view to_string(ReadLevel level) noexcept;
[[nodiscard]] std::string_view to_string(Role role) noexcept;
[[nodiscard]] std::string_view to_string(Standing standing) noexcept;
[[nodiscard]] std::string_view to_string(NameKind kind) noexcept;
[[nodiscard]] std::string_view to_string(LogLevel level) noexcept;
[[nodiscard]] std::string_view to_string(LogFormat format) noexcept;
[[nodiscard]] std::string_view to_string(Durability durability) noexcept;

}  // namespace mortise
