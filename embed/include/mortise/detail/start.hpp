// Used by the templates and mutexes of the public headers. Not for use by programs.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <mortise/hold.hpp>
#include <mortise/hold_set.hpp>
#include <mortise/lock_request.hpp>
#include <mortise/options.hpp>
#include <mortise/wait_options.hpp>

#include <mortise/detail/macros_aside.hpp>

namespace mortise {

class Election;
class Node;
struct ErrorDetail;
struct LockInfo;

namespace detail {

class NodeRuntime;
class ThreadOwners;

using Deadline = std::chrono::steady_clock::time_point;

enum class Attempt : std::uint8_t {
    wait,   // until it is held; options.wait_max ends the wait with timed_out
    once,   // if it is busy, the answer is an empty Hold without an error
    until,  // the same if the deadline comes first
};

// Replaces the single name. options.mode is ignored.
struct SeveralNames {
    std::vector<LockRequest> requests;
    bool all = true;  // otherwise any
};

// Of a semaphore; `limit` counts if the order creates it.
struct Permits {
    std::uint32_t count = 1;
    std::uint32_t limit = 1;
};

struct AcquireOrder {
    std::string name;
    AcquireOptions options;
    Attempt attempt = Attempt::wait;
    Deadline deadline = Deadline::max();  // counts for Attempt::until
    std::optional<SeveralNames> several{};
    // Whether the request shares the grant of its locker's other holds of the name, or is merely
    // one of the locker's waits.
    bool is_shared = true;
    bool may_be_cached = false;        // the grant may stay with this node (S43)
    std::optional<Permits> permits{};  // absent: of a lock
    // Receives the details of an error, for a thread that waits, or before a Finish is called.
    ErrorDetail* detail = nullptr;
    std::string_view unsound{};  // why the rest of the call is invalid; static text
};

// What a caller asks of a latch or a barrier.
struct WaitOrder {
    enum class Kind : std::uint8_t { latch, count, barrier };
    Kind kind = Kind::latch;
    std::string name;
    std::ptrdiff_t size = 0;   // counts if the order creates the latch or the barrier
    std::ptrdiff_t count = 0;  // to be counted down
    WaitOptions options{};     // without wait_max
    Deadline deadline = Deadline::max();
    bool has_time = true;           // false: the wait was over when it was asked for
    ErrorDetail* detail = nullptr;  // receives the details of an error before a Finish is called
};

// The completion of an asynchronous operation. It is called once, on a callback thread of the node,
// and never by start_*. For a release the Hold is empty.
class Finish {
public:
    Finish() = default;
    Finish(const Finish&) = delete;
    Finish& operator=(const Finish&) = delete;
    virtual ~Finish() = default;
    virtual void operator()(std::error_code ec, Hold hold) = 0;
};

// Begins an acquire. The function that is returned cancels it; it may be called from any thread and
// more than once. Then `finish` receives Errc::cancelled, unless the acquire was decided before. If
// start_acquire throws std::bad_alloc, nothing was begun and `finish` is not called.
std::function<void()> start_acquire(const std::shared_ptr<NodeRuntime>& node, AcquireOrder order,
                                    std::unique_ptr<Finish> finish);
// Likewise for an acquire of Election::campaign(). Before `finish` is called, the value is
// published under the hold.
std::function<void()> start_campaign(const std::shared_ptr<NodeRuntime>& node, AcquireOrder order,
                                     std::string value, std::unique_ptr<Finish> finish);
void start_release(Hold hold, std::unique_ptr<Finish> finish);
// Begins a wait or a count; the rest is as for start_acquire. `finish` receives no hold, and
// timed_out when the time ends first.
std::function<void()> start_wait(const std::shared_ptr<NodeRuntime>& node, const WaitOrder& order,
                                 std::unique_ptr<Finish> finish);

// Begins an upgrade of the hold to exclusive; `cancel` ends it. `finish` receives no hold, and
// timed_out when the deadline comes first. The owner makes no other conversion until then. If the
// hold is released meanwhile, that cancels it.
void start_upgrade(const Hold& hold, Deadline deadline, const std::stop_token& cancel,
                   ErrorDetail* detail, std::unique_ptr<Finish> finish);

// The grant of acquire_all() as a set. Throws std::bad_alloc; then everything is released.
[[nodiscard]] HoldSet as_set(Hold granted);
// The holds of such a grant, in the byte order of the names; empty for any other hold. They end
// with the grant. Throws std::bad_alloc.
[[nodiscard]] std::vector<Hold> parts_of(const Hold& granted);

// Blocks until the acquire has ended. `busy`, if given, receives the present holders.
Hold acquire(const std::shared_ptr<NodeRuntime>& node, AcquireOrder order, std::error_code& ec,
             LockInfo* busy = nullptr);
// The same, but throws LockError with the details.
Hold acquire_or_throw(const std::shared_ptr<NodeRuntime>& node, AcquireOrder order,
                      LockInfo* busy = nullptr);

[[nodiscard]] const std::shared_ptr<NodeRuntime>& runtime_of(const Node& node);
[[nodiscard]] const std::shared_ptr<NodeRuntime>& runtime_of(const Election& election);
// The threads of this process that locked names through the mutexes of this node.
[[nodiscard]] ThreadOwners& thread_owners(NodeRuntime& node);
// A new owner.
[[nodiscard]] Locker new_locker(NodeRuntime& node);
// True if this node was removed from its cluster, as far as it knows now.
[[nodiscard]] bool is_removed(NodeRuntime& node);
// The id of its cluster, as far as it knows now; empty: it knows none yet.
[[nodiscard]] std::string cluster_id(NodeRuntime& node);
// Reports to the node's event sinks that a thread unlocked a name which it did not hold.
void report_not_held(NodeRuntime& node, std::string_view name);

}  // namespace detail
}  // namespace mortise

#include <mortise/detail/macros_back.hpp>
