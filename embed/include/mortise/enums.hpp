// Every choice and every state that has a name.
#pragma once

#include <cstdint>
#include <string_view>

namespace mortise {

// How a hold wants a name. The everyday ones are shared, update and exclusive. `update` reads now
// and will ask for `exclusive` later; the intent modes say that finer names below this one are
// locked.
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

// How the waiters of a name are ordered. Belongs to the name: set by the request that creates it;
// another one later is Errc::kind_mismatch.
enum class QueuePolicy : std::uint8_t {
    phase_fair,  // readers and writers take turns; nobody starves
    fifo,        // nobody passes an earlier one that is in conflict
    prefer_readers,
    prefer_writers,
};

enum class HoldState : std::uint8_t {
    held,
    at_risk,    // the renewal of the lease is overdue; the lease still runs
    suspended,  // the lease ran out, and the hold was asked to wait for better news
    lost,       // for good
    released,   // also an empty hold
};

// Why a hold was lost.
enum class LossReason : std::uint8_t {
    none,          // it was not
    expired,       // the lease was not renewed in time, or the hold's own time limit passed
    broken,        // by an administrator
    node_stopped,  // the node was closed, or it failed
    forked,        // this is the child of a fork
};

// How the holder before left.
enum class Predecessor : std::uint8_t {
    none,     // there is none on record
    clean,    // released
    expired,  // gone without a word: what it protected may be half done
    broken,   // ended by an administrator
};

// Why a name is closed although nobody holds it.
enum class ClosedBy : std::uint8_t {
    broken,      // it was taken from a holder whose node has not confirmed yet (S24)
    min_hold,    // it was released before the holder's min_hold was over (S8)
    lock_delay,  // its holder was lost, and had asked for a lock_delay (S9)
};

// --- what a caller may choose for a single call

// When the name becomes free after a lock is broken.
enum class BreakMode : std::uint8_t {
    confirmed,  // once the old holder knows, or its lease ran out
    immediate,  // at once: the old holder may still believe in its hold
};

// What becomes of a hold whose lease ran out while nobody else was granted it yet.
enum class OnUncertain : std::uint8_t {
    lose,     // it is lost
    suspend,  // it is not valid, and is held again if the lease can still be renewed
};

enum class ReadLevel : std::uint8_t {
    linearizable,  // includes all that was answered before the question; needs a majority
    local,         // what this node knows, perhaps old
};

// --- nodes

// Voters keep the cluster's log and elect its leader.
enum class Role : std::uint8_t {
    voter,
    learner,  // keeps a copy without a vote
};

// A voter's part in the election of its leader.
enum class Standing : std::uint8_t {
    follower,
    pre_candidate,  // asks whether an election would be worth it
    candidate,
    leader,
};

// A line of the log has one of these but `off`, which as a threshold lets nothing through.
enum class LogLevel : std::uint8_t { debug, info, warn, error, off };

// The name of the enumerator as it is written above; "unknown" for a value without one.
[[nodiscard]] std::string_view to_string(LockMode mode) noexcept;
[[nodiscard]] std::string_view to_string(QueuePolicy policy) noexcept;
[[nodiscard]] std::string_view to_string(HoldState state) noexcept;
[[nodiscard]] std::string_view to_string(LossReason reason) noexcept;
[[nodiscard]] std::string_view to_string(Predecessor how) noexcept;
[[nodiscard]] std::string_view to_string(ClosedBy why) noexcept;
[[nodiscard]] std::string_view to_string(BreakMode mode) noexcept;
[[nodiscard]] std::string_view to_string(OnUncertain choice) noexcept;
[[nodiscard]] std::string_view to_string(ReadLevel level) noexcept;
[[nodiscard]] std::string_view to_string(Role role) noexcept;
[[nodiscard]] std::string_view to_string(Standing standing) noexcept;
[[nodiscard]] std::string_view to_string(LogLevel level) noexcept;

}  // namespace mortise
