// What the templates and the mutexes of the public headers are made of. Not for use by programs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <mortise/hold.hpp>
#include <mortise/hold_set.hpp>
#include <mortise/lock_request.hpp>
#include <mortise/options.hpp>

namespace mortise {

class Node;
struct ErrorDetail;
struct LockInfo;

namespace detail {

class NodeRuntime;
class ThreadOwners;

using Deadline = std::chrono::steady_clock::time_point;

enum class Attempt : std::uint8_t {
    wait,   // until it is held; options.wait_max ends it with timed_out
    once,   // busy is the answer: an empty Hold and no error
    until,  // the same when the deadline comes first
};

// Instead of the one name; of the mode of the options nothing is taken.
struct SeveralNames {
    std::vector<LockRequest> requests;
    bool all = true;  // otherwise any
};

struct AcquireOrder {
    std::string name;
    AcquireOptions options;
    Attempt attempt = Attempt::wait;
    Deadline deadline = Deadline::max();  // counts for Attempt::until
    std::optional<SeveralNames> several{};
    // Of the locker of the options: with its other holds of the name, or merely as one of its
    // waits.
    bool is_shared = true;
    ErrorDetail* detail = nullptr;  // of an error, for a thread that waits
};

// The end of an asynchronous operation. Called once, on a callback thread of the node, never from
// within start_*. For a release the Hold is empty.
class Finish {
public:
    Finish() = default;
    Finish(const Finish&) = delete;
    Finish& operator=(const Finish&) = delete;
    virtual ~Finish() = default;
    virtual void operator()(std::error_code ec, Hold hold) = 0;
};

// Begins it; the answer, called from any thread and more than once if need be, ends it early:
// finish is then told Errc::cancelled unless it was decided before. When it throws, for want of
// memory, nothing was begun and finish is not called.
std::function<void()> start_acquire(const std::shared_ptr<NodeRuntime>& node, AcquireOrder order,
                                    std::unique_ptr<Finish> finish);
void start_release(Hold hold, std::unique_ptr<Finish> finish);

// What was granted to an order of all of several names. Throws std::bad_alloc, and then all of it
// is given back.
[[nodiscard]] HoldSet as_set(Hold granted);

// Waits for the end of it on this thread. `busy`, if given, is told who has it.
Hold acquire(const std::shared_ptr<NodeRuntime>& node, AcquireOrder order, std::error_code& ec,
             LockInfo* busy = nullptr);

[[nodiscard]] const std::shared_ptr<NodeRuntime>& runtime_of(const Node& node);
// Which thread of this process has locked which names through the mutexes of this node.
[[nodiscard]] ThreadOwners& thread_owners(NodeRuntime& node);
// An owner of its own.
[[nodiscard]] Locker new_locker(NodeRuntime& node);
// From its cluster, as far as it knows and says at once.
[[nodiscard]] bool is_removed(NodeRuntime& node);
// Tells the node's event sinks that a thread unlocked what it did not hold.
void report_not_held(NodeRuntime& node, std::string_view name);

}  // namespace detail
}  // namespace mortise
