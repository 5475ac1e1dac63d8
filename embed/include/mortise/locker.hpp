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

// Owns what is acquired with it (AcquireOptions::locker), from whatever thread (S22). It may have a
// name more than once: the first acquire asks the cluster, the next ones share its grant and its
// token, and it goes back when the last of their Holds has gone. They may go in any order.
//
// Acquiring again is Errc::deadlock in a mode that the first one does not cover, lock_lost when the
// grant was lost and its Holds are still there, invalid_argument while another thread acquires the
// name for the same locker or when the locker is another node's, resource_exhausted beyond 1,024
// times. Holds of different lockers, and holds without one, exclude each other like those of two
// processes.
//
// What it gets by acquire_all() or acquire_any() counts one as well, and goes back with
// release_all(). But none of its other holds shares in that, nor it in theirs: of a name that the
// locker has in a mode that conflicts, one attempt is busy, and to wait is Errc::deadlock.
//
// Lockers that wait for each other, on whatever nodes, do not wait for ever: the request that
// closes the circle fails with Errc::deadlock, and names it (S33). Once every member of the cluster
// runs a version that can tell.
//
// A handle: copies are the same owner. All members are thread-safe, but for assignment and
// destruction, which release nothing. May outlive the Node.
class Locker {
public:
    // None: each Hold is its own owner.
    Locker() = default;
    // A new one, for that node. The label has at most 256 bytes, and names it in the circles of
    // waits that it is in (ErrorDetail). Throws LockError: invalid_argument, node_stopped
    // for a node that was moved from, forked.
    explicit Locker(Node& node, std::string label = {});

    // Holds that are neither released nor destroyed, lost or not; each acquire counts one.
    [[nodiscard]] std::size_t hold_count() const noexcept;
    // Releases all of them at once, lost ones too, and waits until the cluster has confirmed it: no
    // error, or the first one of Hold::release(). What other threads are acquiring meanwhile stays.
    std::error_code release_all() noexcept;

    friend bool operator==(const Locker&, const Locker&) = default;

private:
    friend class detail::LockerState;
    explicit Locker(std::shared_ptr<detail::LockerState> state) noexcept;

    std::shared_ptr<detail::LockerState> state_;
};

}  // namespace mortise
