// A lock that is held.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
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
// access, as always, and so does converting. Nothing blocks but release(),
// the conversions, and what reads or writes the value.
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
    // of the node; by then they have returned, or had 100 ms, or the cluster has ended the whole
    // session. One that throws ends the program, as std::stop_callback says. That of an empty hold
    // never stops. A release does not stop it.
    [[nodiscard]] std::stop_token lost() const noexcept;

    // Throws LockError unless valid(): lock_lost, node_stopped, forked, no_quorum for a hold that
    // is suspended, or not_held for one that is empty or released.
    void check() const;
    void check(std::error_code& ec) const noexcept;
    // What check() would throw now; no error when it would not.
    [[nodiscard]] std::error_code failure() const noexcept;

    // Waits until the cluster says that the session lives, in answer to a question that is asked
    // now: so valid() stays true for about the session's TTL from here on. A suspended hold is held
    // again, or lost, when this returns. Errors as of check(), and no_quorum when nobody could be
    // asked before the deadline; without one, within call_timeout. Blocks; thread-safe.
    void confirm(std::chrono::steady_clock::time_point deadline =
                     std::chrono::steady_clock::time_point::max()) const;
    void confirm(std::error_code& ec) const;
    void confirm(std::chrono::steady_clock::time_point deadline, std::error_code& ec) const;

    // The worker gets on: AcquireOptions::progress_timeout begins anew. Of a hold without one, or
    // that is lost, it changes nothing. As cheap as valid().
    void checkpoint() const noexcept;

    // How the holder before this one left (S23).
    [[nodiscard]] Previous previous() const;

    // The value that this name carries (S36), as the cluster has it now: one waits for a majority,
    // at most call_timeout. Empty when there is none. inspect() tells it to anybody, and whether it
    // is dirty: whether an exclusive holder was lost since it was vouched for, in the middle of
    // writing it perhaps. Fails like check(), or with no_quorum.
    [[nodiscard]] std::string value() const;
    [[nodiscard]] std::string value(std::error_code& ec) const;
    // Writes it, for an exclusive hold, and waits until the cluster has it: at most 4 KiB of any
    // bytes; no bytes, and there is no value any more. A hold that was lost writes nothing: that is
    // lock_lost. invalid_argument for any other mode, resource_exhausted when the cluster's values
    // have no room for it, incompatible while a member of the cluster is too old, outcome_unknown
    // when nobody answered in time.
    void set_value(std::string_view bytes) const;
    void set_value(std::string_view bytes, std::error_code& ec) const;
    // Vouches for the value: it is not dirty any more. Errors as of set_value().
    void consistent() const;
    void consistent(std::error_code& ec) const;

    // --- conversions (S27). Of an owner's only hold of the name: invalid_argument for one of a
    // HoldSet, and for one that a Locker has more than once. Errors of all: as of check(), and
    // no_quorum; incompatible while a member of the cluster is too old to know them.

    // From now on in a mode that conflicts with nothing that the present one admits, or else
    // invalid_argument: exclusive to any, update to shared or intent_shared. Waits for nobody else,
    // lets compatible waiters in, and keeps the token. From the call on the hold is valid in the
    // new mode only, whatever the answer is: after no_quorum the cluster learns of it when it can,
    // and invalid_argument, incompatible and resource_exhausted changed nothing.
    void downgrade(LockMode mode);
    void downgrade(LockMode mode, std::error_code& ec);

    // To exclusive, under a new token. From update, of which there is one at a time: waits until
    // the readers have left, and keeps new ones out meanwhile. From shared only when nobody else
    // holds the name: otherwise deadlock, at once, since two who did that would wait for each other
    // for ever. From any other mode invalid_argument. timed_out after the deadline, cancelled when
    // the hold is released meanwhile: whenever it comes to nothing, the hold stays as it was.
    void upgrade(std::chrono::steady_clock::time_point deadline =
                     std::chrono::steady_clock::time_point::max());
    void upgrade(std::error_code& ec);
    void upgrade(std::chrono::steady_clock::time_point deadline, std::error_code& ec);
    // The same without waiting, from update or shared: false when somebody else holds the name.
    [[nodiscard]] bool try_upgrade();
    [[nodiscard]] bool try_upgrade(std::error_code& ec);

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
