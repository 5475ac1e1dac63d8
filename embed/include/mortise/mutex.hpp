// A lock of the cluster with the interface of std::timed_mutex.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include <mortise/detail/deadline.hpp>
#include <mortise/duration.hpp>
#include <mortise/hold.hpp>
#include <mortise/options.hpp>

namespace mortise {

class Node;

namespace detail {
class NamedMutex;
}

// Excludes the threads of all nodes of the cluster that lock the same name. It is
// Cpp17TimedLockable, for std::scoped_lock, std::unique_lock, std::lock and
// std::condition_variable_any.
//
// The thread that locked it owns it, and only that thread can unlock it; to pass a lock between
// threads use a Hold. A thread cannot lock a name twice on one node, in any mode and through any
// object, nor through two nodes of the process in conflicting modes: that is a deadlock. A lock
// that a thread still owns is released when the thread ends or the object is destroyed. What else
// is per node: see Node.
//
// Owning the lock does not mean that it is valid: see hold(). After a loss the thread unlocks it as
// usual, or just locks it again.
//
// All members are thread-safe, except construction and destruction. The object may outlive the
// Node; lock() then fails with node_stopped.
class Mutex {
public:
    // In `options`, locker, wait_max and mode must have their defaults, otherwise it throws
    // LockError with invalid_argument. Does not ask the cluster.
    Mutex(const Node& node, std::string_view name, AcquireOptions options = {});
    ~Mutex();
    Mutex(const Mutex&) = delete;
    Mutex& operator=(const Mutex&) = delete;

    // Blocks until it is locked, also through the loss of the session or the quorum. Throws
    // LockError only for errors that waiting does not resolve: node_stopped, forked, deadlock (with
    // this thread itself, or in a wait cycle: LockError::detail()), permission_denied,
    // invalid_argument, kind_mismatch, resource_exhausted, incompatible; not_ready if this node was
    // removed from its cluster; and cancelled if options.cancel was asked to stop.
    void lock();
    // Makes one attempt. False if another owner or this thread holds it, and if there is no session
    // or no quorum. Blocks for the answer of the cluster, at most call_timeout. Throws like lock(),
    // but returns false instead of throwing cancelled.
    [[nodiscard]] bool try_lock();
    // Like lock(), but returns false if the time ends first. It makes at least one attempt, and
    // returns false instead of throwing deadlock or cancelled.
    [[nodiscard]] bool try_lock_for(Duration wait);
    // Likewise until a time point. The remaining time on a clock other than
    // std::chrono::steady_clock is read once, at the start.
    template <class Clock, class Unit>
    [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Unit>& moment) {
        return try_until(detail::deadline_of(moment));
    }
    // Releases what this thread locked, without waiting. If this thread locked nothing, the only
    // effect is a NodeEvent::Kind::not_held.
    void unlock() noexcept;

    // The hold of this thread: its token, its validity, and the stop token of its loss. Empty on
    // other threads. The reference is valid until this thread unlocks or locks again.
    [[nodiscard]] const Hold& hold() const;
    // True if this thread locked it and did not unlock it since. A loss does not change that.
    [[nodiscard]] bool owned_by_this_thread() const;

private:
    [[nodiscard]] bool try_until(std::chrono::steady_clock::time_point deadline);

    const std::unique_ptr<detail::NamedMutex> mutex_;
};

}  // namespace mortise
