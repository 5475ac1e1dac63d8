// The options of an acquire.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include <mortise/duration.hpp>
#include <mortise/enums.hpp>
#include <mortise/locker.hpp>

#include <mortise/detail/macros_aside.hpp>

namespace mortise {

// The options of one acquire. It is an aggregate: name the members that you set. New members are
// added at the end.
//
//   node.acquire("orders/42", {.label = "nightly", .wait_max = 5s});
//
// In a coroutine, name the options before co_await: g++ 12 destroys aggregate temporaries there
// while they are still in use.
struct AcquireOptions {
    LockMode mode = LockMode::exclusive;
    std::string label{};  // at most 256 bytes; inspect() and the next holder's previous() show it

    Duration wait_max = Duration::max();  // after this time acquire() throws timed_out

    // Time limits, each at most 24 days. They belong to the grant: when a locker acquires a name
    // that it already holds, the limits of the first acquire stay.
    //
    // The hold is lost (expired) this long after its grant, even if its lease is renewed. The node
    // enforces this; if the node is silent, the cluster does so a little later (S8).
    Duration max_hold = Duration::max();
    // The name is granted to no conflicting holder, this program included, until this long after
    // the grant, even if the hold ends earlier: a job that took 5 ms is not run again by a node
    // whose clock is late (S8). It counts for the present mode: after Hold::downgrade() to shared,
    // readers may enter at once. The clocks of a majority measure it, so it is up to two percent
    // and some milliseconds longer; a release after that closes nothing. break_lock() ends the
    // wait. Zero means none; so does Duration::max().
    Duration min_hold = Duration::zero();
    // The hold is lost (expired) unless Hold::checkpoint() is called at least this often (S8). The
    // node enforces this; if the node is silent, the name becomes free when its session expires.
    Duration progress_timeout = Duration::max();
    // If the hold is lost instead of released, the name is granted to no conflicting holder for
    // this long, so that writes in transit can reach the resource (S9). break_lock() ends the
    // wait, and starts none. Zero means none; so does Duration::max().
    Duration lock_delay = Duration::zero();

    // 0 to 7; higher priorities go first. A request that was overtaken 8 times moves up one class,
    // so no request starves.
    int priority = 0;
    // The policy belongs to the name: the request that creates the name sets it, and a different
    // policy later fails with kind_mismatch, also while a node has the name cached (see `caching`).
    // Absent: the present policy, or phase_fair for a new name.
    std::optional<QueuePolicy> queue_policy{};
    // With suspend, a hold whose lease ends is not lost yet: valid() is false; the hold becomes
    // held again with the same token if a renewal succeeds, and is lost when its session is.
    OnUncertain on_uncertain = OnUncertain::lose;
    // With adaptive, this node keeps the grant of a name that it takes twice in a row, and gives
    // the lock to its next callers without asking the cluster: in less than a microsecond, with a
    // new token each time, and only while its lease is valid (S39-S45). inspect() shows the grant
    // as cached.
    // - A request from another node recalls the grant. It goes back at once if it is not in use,
    // otherwise when its user releases it. A grant that nobody used for a second goes back too.
    // - Callers of this node that wait for an exclusive lock which this node has are served in
    // turn, for at most 5 ms after a recall. The cluster sees the request of a caller that has
    // waited for 50 ms.
    // - Never cached are holds with max_hold, min_hold, progress_timeout, lock_delay, on_contended,
    // queue_policy or OnUncertain::suspend; holds of several names, in other modes than shared and
    // exclusive, and of names that have a value. A node with Role::client gives its cached grants
    // back when it changes its member, and caches nothing while that is of version 0.2.
    // - A cached name counts as held, for about a second after its last release. Until the grant
    // has gone back, Node::remove() of the name fails with invalid_argument, and a semaphore, a
    // latch, a barrier or another queue_policy on that name with kind_mismatch. These calls do not
    // recall the grant. Use Caching::off for a name that is removed or becomes something else.
    Caching caching = Caching::adaptive;
    Locker locker{};

    std::stop_token cancel{};  // a stop request ends the wait with Errc::cancelled

    // Called once each time the hold becomes at_risk: half of the session's TTL has passed since
    // the newest renewal that succeeded was sent. Unless another one succeeds, the hold is lost in
    // `remaining`. Afterwards the hold is held again, without a callback, or lost. Runs on a
    // callback thread of the node; exceptions are dropped.
    std::function<void(Duration remaining)> on_at_risk{};
    // Called once each time the hold becomes suspended: stop the work, and wait with
    // Hold::confirm(). Only with OnUncertain::suspend. Runs on a callback thread of the node;
    // exceptions are dropped.
    std::function<void()> on_suspended{};
    // Called when other requests conflict with this hold: `mode` is the mode that they want,
    // `waiters` the number of requests that wait for the name. It is called for the first such
    // request, when their number grows, and after the grant if requests wait already. It is also
    // called for Node::request_release(), with its `reason` and the mode exclusive. The holder
    // decides whether to release the hold at once, later, or not at all. Runs on a callback thread
    // of the node; exceptions are dropped. While a callback runs, only the newest notification is
    // kept for the next call.
    std::function<void(LockMode mode, std::size_t waiters, std::string_view reason)> on_contended{};
};

}  // namespace mortise

#include <mortise/detail/macros_back.hpp>
