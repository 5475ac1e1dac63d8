// An explicit owner of holds.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <system_error>

namespace mortise {

class Node;

namespace detail {
class LockerState;
}

// Owns the holds that are acquired with it (AcquireOptions::locker), from any thread (S22).
//
// Repeated acquires: a locker may acquire a name that it already holds. The first acquire asks the
// cluster; the next ones share its grant and its token. The lock is released with the last of the
// Holds, in any order. Acquiring again fails with
// - deadlock: in a mode that the first one does not cover
// - lock_lost: the grant was lost, and not all its Holds are released yet
// - invalid_argument: another thread is acquiring the name for the same locker, or the locker
//   belongs to another node
// - resource_exhausted: beyond 1,024 times
// Holds of different lockers, and holds without a locker, exclude each other like those of two
// processes.
//
// Holds from acquire_all() and acquire_any() count in hold_count() and end with release_all(). They
// are not shared with the locker's other holds: if the locker already holds such a name in a
// conflicting mode, a single attempt is busy, and waiting fails with Errc::deadlock.
//
// Deadlocks: lockers may wait for each other on any nodes. The request that would complete a wait
// cycle fails with Errc::deadlock, and LockError::detail() lists the cycle (S33). This requires
// that every member of the cluster runs a version that supports it.
//
// A locker is a handle: copies are the same owner. All members are thread-safe, except assignment
// and destruction, which release nothing. It may outlive the Node.
class Locker {
public:
    // No locker: each Hold is its own owner.
    Locker() = default;
    // A new locker for that node. The label, at most 256 bytes, names it in wait cycles
    // (ErrorDetail). Throws LockError: invalid_argument, node_stopped for a node that was moved
    // from, forked.
    explicit Locker(Node& node, std::string label = {});

    // The number of Holds that are neither released nor destroyed; lost ones and repeated acquires
    // count.
    [[nodiscard]] std::size_t hold_count() const noexcept;
    // Releases all Holds at once, lost ones too, and waits until the cluster has confirmed it, for
    // at most call_timeout. Returns no error, or the first error of Hold::release(). What other
    // threads are acquiring meanwhile is not released.
    std::error_code release_all() noexcept;

    friend bool operator==(const Locker&, const Locker&) = default;

private:
    friend class detail::LockerState;
    explicit Locker(std::shared_ptr<detail::LockerState> state) noexcept;

    std::shared_ptr<detail::LockerState> state_;
};

}  // namespace mortise
