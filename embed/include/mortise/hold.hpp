// A lock that is held.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>

#include <mortise/boot_clock.hpp>
#include <mortise/duration.hpp>
#include <mortise/enums.hpp>
#include <mortise/fencing_token.hpp>
#include <mortise/info.hpp>
#include <mortise/slot.hpp>

#include <mortise/detail/macros_aside.hpp>

namespace mortise {

namespace detail {
class HoldRecord;
}

// Owns one grant. The owner is this object and not a thread: it may be moved to another thread and
// released there. Two holds of one process conflict like those of two processes.
//
// Every member may be called at any time, also on a hold that is empty, moved from, released or
// lost, and after the Node is gone.
//
// Thread safety: members that do not change the hold may be called from several threads at once,
// also beside one release() or unlock(). Moving, assigning and converting require exclusive access.
//
// Blocking: only release(), confirm(), the conversions, and the members that read or write the
// value block.
class [[nodiscard]] Hold {
public:
    // An empty hold, which owns nothing.
    Hold() noexcept;
    Hold(Hold&& other) noexcept;
    // Releases the former grant of this object without waiting, like unlock().
    Hold& operator=(Hold&& other) noexcept;
    // Releases the grant without waiting, like unlock().
    ~Hold();

    // True if this object owns a grant: it is not empty, moved from or released. This says nothing
    // about the lease: a lost hold is still owned, also after its release; see valid().
    [[nodiscard]] explicit operator bool() const noexcept;

    // For an empty hold: "", exclusive and 0.
    [[nodiscard]] std::string name() const;
    [[nodiscard]] LockMode mode() const noexcept;
    // Greater than the token of every earlier conflicting holder of this name, for ever (P1). A
    // lost hold keeps its token; a released one has 0.
    [[nodiscard]] FencingToken token() const noexcept;

    // The permits that it has of a semaphore, ascending by number, each with token(); empty for the
    // hold of a lock. A lost hold keeps them; a released one has none. The span is valid until this
    // object is moved from, assigned to or destroyed.
    [[nodiscard]] std::span<const Slot> slots() const noexcept;

    // True while no other holder can have a conflicting hold, as long as the clocks keep their
    // bounds and nobody breaks the lock with BreakMode::immediate (P3). The answer is about the
    // moment of the call; protect what is done afterwards with the token, and with a resource that
    // compares tokens. Costs one reading of the clock and one of an atomic.
    [[nodiscard]] bool valid() const noexcept;
    // The time until which valid() stays true if no renewal succeeds; the epoch when it is false.
    [[nodiscard]] BootClock::time_point valid_until() const noexcept;
    // The time until valid_until(); zero when valid() is false.
    [[nodiscard]] Duration remaining() const noexcept;
    [[nodiscard]] HoldState state() const noexcept;
    [[nodiscard]] LossReason why_lost() const noexcept;
    // A stop is requested when the hold is lost, for whatever reason, also by Node::close() and
    // ~Node(): before the name is granted to another holder. Callbacks run on a thread of the node,
    // and the name becomes free after they have returned, or after 100 ms. Exceptions: the lock was
    // broken with BreakMode::immediate; the process was paused for so long that the cluster has
    // ended the whole session; or the hold was suspended, of which on_suspended tells in time. If
    // nobody has called lost(), nothing waits; a call after the loss returns a token on which a
    // stop was requested. A callback that throws ends the program, as for std::stop_callback. A
    // release does not request a stop, and the token of an empty hold never does.
    [[nodiscard]] std::stop_token lost() const noexcept;

    // Throws LockError unless valid(): lock_lost, node_stopped, forked; no_quorum for a suspended
    // hold; not_held for an empty or released one. Does not block.
    void check() const;
    void check(std::error_code& ec) const noexcept;
    // The error that check() would throw now; no error if it would not throw.
    [[nodiscard]] std::error_code failure() const noexcept;

    // Asks the cluster whether the session is alive and waits for the answer; then valid() stays
    // true for about the session's TTL from the call. When this returns, a suspended hold is held
    // again, or lost. Errors are those of check(), and no_quorum when no answer came before the
    // deadline, or within call_timeout without one. Blocks; thread-safe.
    void confirm(std::chrono::steady_clock::time_point deadline =
                     std::chrono::steady_clock::time_point::max()) const;
    void confirm(std::error_code& ec) const;
    void confirm(std::chrono::steady_clock::time_point deadline, std::error_code& ec) const;

    // Reports progress: AcquireOptions::progress_timeout begins anew. No effect on a hold without
    // one, or on a lost hold. As cheap as valid().
    void checkpoint() const noexcept;

    // How the previous holder's hold ended (S23).
    [[nodiscard]] Previous previous() const;

    // The value stored with this name (S36), as the cluster has it now; empty when there is none.
    // inspect() shows it without a hold, and whether it is dirty: an exclusive holder was lost,
    // perhaps in the middle of a change, and consistent() was not called since. Blocks for at most
    // call_timeout. Fails like check(), or with no_quorum.
    [[nodiscard]] std::string value() const;
    [[nodiscard]] std::string value(std::error_code& ec) const;
    // Stores the value and waits until the cluster has it. Requires an exclusive hold. The value is
    // at most 4 KiB of any bytes; empty bytes remove it. Errors:
    // - lock_lost: the hold was lost, and nothing was written
    // - invalid_argument: the hold has another mode or is of a Semaphore, or the value is too long
    // - resource_exhausted: all values of the cluster together reached their limit
    // - outcome_unknown: no answer came in time
    void set_value(std::string_view bytes) const;
    void set_value(std::string_view bytes, std::error_code& ec) const;
    // Declares the value consistent: it is not dirty any more. Errors are those of set_value().
    void consistent() const;
    void consistent(std::error_code& ec) const;

    // --- conversions (S27)

    // Only a hold that its owner has once can be converted: a hold in a HoldSet, one that a Locker
    // has more than once, and one of a Semaphore fail with invalid_argument. Further errors of all
    // conversions: those of check(), and no_quorum.

    // Changes to a mode that admits everything the present one admits, for example from exclusive
    // to any mode, or from update to shared. Any other change fails with invalid_argument. Keeps
    // the token, waits for no other holder, and lets compatible waiters in, also during a min_hold:
    // that keeps out conflicting holders only. After invalid_argument and resource_exhausted
    // nothing has changed. After any other answer the hold is valid in the new mode only; after
    // no_quorum the cluster learns of the change later. Blocks for at most call_timeout.
    void downgrade(LockMode mode);
    void downgrade(LockMode mode, std::error_code& ec);

    // Changes to exclusive, with a new token. Blocks.
    // - From update, which one holder has at a time: waits until the readers have left, and keeps
    // new readers out meanwhile.
    // - From shared: succeeds only if there is no other holder. Otherwise it fails with deadlock,
    // because two readers that upgrade would wait for each other for ever: at once, unless all
    // others are cached grants, which are recalled first.
    // - From any other mode: invalid_argument.
    // Fails with timed_out after the deadline, and with cancelled when the hold is released
    // meanwhile. After any failure the hold is as before.
    void upgrade(std::chrono::steady_clock::time_point deadline =
                     std::chrono::steady_clock::time_point::max());
    void upgrade(std::error_code& ec);
    void upgrade(std::chrono::steady_clock::time_point deadline, std::error_code& ec);
    // The same, and a stop request ends the wait with cancelled.
    void upgrade(std::chrono::steady_clock::time_point deadline, const std::stop_token& cancel,
                 std::error_code& ec);
    // Like upgrade(), from update or shared, but does not wait for other holders: false when there
    // is one. A cached grant counts as one, also the idle one of a reader of this node, which it
    // keeps for up to a second. Blocks for at most call_timeout.
    [[nodiscard]] bool try_upgrade();
    [[nodiscard]] bool try_upgrade(std::error_code& ec);

    // Releases the hold and waits until the cluster has confirmed it, for at most call_timeout.
    // Returns no error; failure() if the hold was lost; not_held if there was nothing to release;
    // outcome_unknown after call_timeout, in which case the release goes on by itself and need not
    // be repeated. valid() is false from the call on.
    [[nodiscard]] std::error_code release() noexcept;
    // Releases the hold without waiting. Never fails, never blocks.
    void unlock() noexcept;

private:
    friend class detail::HoldRecord;
    explicit Hold(std::shared_ptr<detail::HoldRecord> record) noexcept;

    std::shared_ptr<detail::HoldRecord> record_;
};

}  // namespace mortise

#include <mortise/detail/macros_back.hpp>
