// A cluster's lock in the shape of std::timed_mutex.
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

// Excludes the threads of every node of the cluster that lock the same name. Cpp17TimedLockable:
// made for std::scoped_lock, std::unique_lock, std::lock and std::condition_variable_any.
//
// It belongs to the thread that locked it, and only that thread can unlock it; for a lock that goes
// from thread to thread use a Hold. A thread cannot lock a name twice on one node, in any mode,
// through whichever object: that is a deadlock. What a thread still has locked when it ends, or
// when the object is destroyed, is unlocked then.
//
// Having it locked does not mean that it is valid: see hold(). After a loss the thread unlocks as
// always, or just locks again.
//
// All members are thread-safe, but for construction and destruction. May outlive the Node; every
// lock() is node_stopped then.
class Mutex {
public:
    // Of options, locker, wait_max and mode stay unset: LockError with invalid_argument otherwise.
    // Does not ask the cluster for anything.
    Mutex(const Node& node, std::string_view name, AcquireOptions options = {});
    ~Mutex();
    Mutex(const Mutex&) = delete;
    Mutex& operator=(const Mutex&) = delete;

    // Blocks until it is locked, through loss of the session and of the quorum. Throws LockError
    // for what waiting does not cure: node_stopped, forked, deadlock (with itself, or in a circle
    // with others: LockError::detail()), permission_denied, invalid_argument, kind_mismatch,
    // resource_exhausted, incompatible; cancelled if options.cancel was asked to stop.
    void lock();
    // One attempt. False when somebody has it, this thread too, and when there is no session or no
    // quorum. Blocks for the answer of the cluster, at most call_timeout. Throws as lock() for the
    // rest, but for cancelled, which is false.
    [[nodiscard]] bool try_lock();
    // As lock(), for at most that long; as try_lock() when it is over.
    [[nodiscard]] bool try_lock_for(Duration wait);
    // The same, until then. What is left on another clock than std::chrono::steady_clock is read
    // once, at the start.
    template <class Clock, class Unit>
    [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Unit>& moment) {
        return try_until(detail::deadline_of(moment));
    }
    // Gives back what this thread locked, and does not wait. If it locked nothing, nothing happens
    // but a NodeEvent::Kind::not_held.
    void unlock() noexcept;

    // What this thread has: token, validity, the stop token of its loss. Empty on other threads.
    // The reference holds until this thread unlocks or locks again.
    [[nodiscard]] const Hold& hold() const;
    // This thread locked it and did not unlock it. A loss does not change that.
    [[nodiscard]] bool owned_by_this_thread() const;

private:
    [[nodiscard]] bool try_until(std::chrono::steady_clock::time_point deadline);

    const std::unique_ptr<detail::NamedMutex> mutex_;
};

}  // namespace mortise
