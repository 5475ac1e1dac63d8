// What an acquire may ask for besides the name.
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

namespace mortise {

// An aggregate: name the members that you set, new ones are added last.
//
//   node.acquire("orders/42", {.label = "nightly", .wait_max = 5s});
//
// In a coroutine, name the options before co_await: g++ 12 destroys aggregate temporaries there
// while they are still in use.
struct AcquireOptions {
    LockMode mode = LockMode::exclusive;
    std::string label{};  // at most 256 bytes; shown to who looks, told to the next holder

    Duration wait_max = Duration::max();  // acquire() throws timed_out after it

    // Bounds on the hold, each at most 24 days. They are those of the grant: a locker that has the
    // name already gets no other ones. While a member of the cluster is too old to know them the
    // request is refused with incompatible.
    //
    // The hold is lost (expired) so long after it was granted, however well it is renewed. Its node
    // sees to that; the cluster does, a little later, if the node is silent (S8).
    Duration max_hold = Duration::max();
    // Nobody gets the name before so long after the grant, however early the hold ends, this
    // program included: what took 5 ms is not done again by somebody whose clock is late (S8).
    // break_lock() ends it.
    Duration min_hold = Duration::max();
    // The hold is lost (expired) unless Hold::checkpoint() is called at least so often (S8). Seen
    // to by its node; if that is silent the name is free with its session.
    Duration progress_timeout = Duration::max();
    // When the hold is lost, not given back, nobody gets the name for so long: time for what is
    // still on its way to the resource (S9). break_lock() leaves none, and ends it.
    Duration lock_delay = Duration::max();

    // 0 to 7, the higher first. Nobody starves: who was overtaken 8 times moves up one class.
    int priority = 0;
    // Belongs to the lock: set by the request that creates it, a different one later is
    // kind_mismatch. Absent: whatever it is; phase_fair for a new one.
    std::optional<QueuePolicy> queue_policy{};
    // suspend: when the lease runs out the hold is not lost yet. valid() is false; it is held
    // again, under the same token, when a renewal gets through after all, and lost when the session
    // is.
    OnUncertain on_uncertain = OnUncertain::lose;
    Locker locker{};

    std::stop_token cancel{};  // ends the wait with Errc::cancelled

    // A renewal of the lease is overdue by half the session's TTL: unless one gets through, the
    // hold is lost in `remaining`. Once each time; afterwards it is held again, which nobody says,
    // or lost(). On a callback thread of the node; what it throws is dropped.
    std::function<void(Duration remaining)> on_at_risk{};
    // It is suspended: stop work, and wait with Hold::confirm(). Each time, once, on a callback
    // thread as well. Only with OnUncertain::suspend.
    std::function<void()> on_suspended{};
    // Somebody waits for what this hold has, in that mode, and so many wait for the name: told when
    // the first begins to, when more do, and at once when they did before it was granted. Or
    // somebody asked for it by Node::request_release(): then `reason` is what he said, and the mode
    // is exclusive. To let go of it, to finish first, or to ignore it is up to the holder. On a
    // callback thread of the node; a callback that takes its time is told of the newest only.
    std::function<void(LockMode mode, std::size_t waiters, std::string_view reason)> on_contended{};
};

}  // namespace mortise
