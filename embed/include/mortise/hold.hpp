// A lock that is held.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <system_error>

#include <mortise/boot_clock.hpp>
#include <mortise/duration.hpp>
#include <mortise/enums.hpp>
#include <mortise/fencing_token.hpp>
#include <mortise/info.hpp>

namespace mortise {

namespace detail {
class HoldRecord;
}

// Owns one grant; the owner is this object, never a thread: it may be moved to and released on
// another one. Two holds of one process conflict like those of two processes.
//
// Every member may be called at any time, also on an empty, moved-from, released or lost hold, and
// after the Node is gone. Members that do not change the hold may be called from several threads at
// once, and so may they beside one release() or unlock(); moving and assigning want exclusive
// access, as always. Nothing blocks but release().
class [[nodiscard]] Hold {
public:
    // Empty: owns nothing.
    Hold() noexcept;
    Hold(Hold&& other) noexcept;
    // Releases what it owned without waiting, like unlock().
    Hold& operator=(Hold&& other) noexcept;
    // Releases without waiting, like unlock().
    ~Hold();

    // Owns a grant: not empty, not moved from, not released. Says nothing of the lease: a lost hold
    // is still owned, see valid().
    [[nodiscard]] explicit operator bool() const noexcept;

    // Of an empty hold: "", exclusive, 0.
    [[nodiscard]] std::string name() const;
    [[nodiscard]] LockMode mode() const noexcept;
    // Greater than that of every earlier conflicting holder of this name, for ever (P1). A lost
    // hold keeps its token; released, it is 0.
    [[nodiscard]] FencingToken token() const noexcept;

    // True while nobody else can have a conflicting hold, as far as the clocks keep their bounds
    // (P3). It covers the moment of the call: what is done afterwards needs the token, and a
    // resource that compares it. Costs a look at the clock and one at an atomic.
    [[nodiscard]] bool valid() const noexcept;
    // How long valid() stays true if no renewal gets through; the epoch when it is not.
    [[nodiscard]] BootClock::time_point valid_until() const noexcept;
    // The time until then; zero when there is none.
    [[nodiscard]] Duration remaining() const noexcept;
    [[nodiscard]] HoldState state() const noexcept;
    [[nodiscard]] LossReason why_lost() const noexcept;
    // Stops when the hold is lost, before anybody else is granted it. Its callbacks run on a thread
    // of the node; one that throws ends the program, as std::stop_callback says. That of an empty
    // hold never stops. A release does not stop it.
    [[nodiscard]] std::stop_token lost() const noexcept;

    // Throws LockError unless valid(): lock_lost, node_stopped, forked, or not_held for a hold that
    // is empty or released.
    void check() const;
    void check(std::error_code& ec) const noexcept;
    // What check() would throw now; no error when it would not.
    [[nodiscard]] std::error_code failure() const noexcept;

    // How the holder before this one left (S23).
    [[nodiscard]] Previous previous() const;

    // Gives the lock back and answers when the cluster has confirmed it: no error, what failure()
    // said if it was lost, not_held if there was nothing to release. outcome_unknown after
    // call_timeout: the release goes on by itself, there is nothing to repeat. valid() is false
    // from the call on.
    [[nodiscard]] std::error_code release() noexcept;
    // The same without waiting; never fails, never blocks.
    void unlock() noexcept;

private:
    friend class detail::HoldRecord;
    explicit Hold(std::shared_ptr<detail::HoldRecord> record) noexcept;

    std::shared_ptr<detail::HoldRecord> record_;
};

}  // namespace mortise
