// A barrier of the cluster.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include <mortise/duration.hpp>
#include <mortise/wait_options.hpp>

#include <mortise/detail/macros_aside.hpp>

namespace mortise {

class Barrier;
class Node;

namespace detail {
class NodeRuntime;
struct WaitOrder;

[[nodiscard]] const std::shared_ptr<NodeRuntime>& runtime_of(const Barrier& barrier);
[[nodiscard]] WaitOrder order_of(const Barrier& barrier, WaitOptions options,
                                 std::chrono::steady_clock::time_point deadline);
}  // namespace detail

// A name at which processes meet, phase after phase: whoever arrives waits until all parties have
// arrived, then all go on and the next phase begins. It has the members of std::barrier that are
// possible between processes (S35). There is no completion function: no process could run it for
// all of them before the first goes on. arrive() and wait() are one call, because an arrival that
// nobody waits for would leave the barrier unable to tell a slow party from a dead one.
//
// A party is a thread of any process, and each calls arrive_and_wait() once in each phase. The node
// of a process takes part with as many parties as have ever arrived through it in one phase, until
// these have dropped. When all parties have arrived once, no others can: an arrival beyond them
// fails with invalid_argument.
//
// The barrier breaks
// - when the session of a node that takes part ends: by the death of its process, by an expiry, or
//   by Node::close();
// - when a party gives up, by its time limit or by WaitOptions::cancel, or because its node got no
//   answer in time; also if the phase ended at that very moment.
// Then everybody who waits, and everybody who arrives later, gets session_expired, instead of
// waiting for ever, or of going on without a party. A party that has never arrived cannot break it,
// because nobody knows it: limit the wait. A broken barrier is repaired by removing it: after
// Node::remove() the next arrival creates a new one. The programs have to agree on who does that.
//
// The barrier exists from its first arrival on, until Node::remove(), also if nobody waits. Until
// then a call for a lock, a semaphore or a latch of that name fails with kind_mismatch, and so do
// the calls of this class while the name is one of those.
//
// A Barrier is a handle and may be copied; several threads may share one. All members are
// thread-safe, except construction, assignment and destruction. It may outlive the Node; its calls
// then fail with node_stopped.
//
// Errors: as for Node. The forms with `ec` do not throw, and `ec` is cleared on success; the others
// throw LockError. Either may throw std::bad_alloc. After invalid_argument, kind_mismatch and
// permission_denied the barrier is as it was before. After any other error of an arrival it is
// broken, unless the cluster did not take the arrival and this node takes part with no other: do
// not go on as if the phase had ended. is_retryable() does not know about barriers.
class Barrier {
public:
    // The largest number of parties.
    [[nodiscard]] static constexpr std::ptrdiff_t max() noexcept { return 1'024; }

    // `parties`, 1 to max(), is their number if an arrival of this object creates the barrier; if
    // it exists, it keeps its own. Does not ask the cluster and does not block. Throws LockError:
    // invalid_argument for the name or the number; node_stopped or forked.
    Barrier(const Node& node, std::string_view name, std::ptrdiff_t parties);
    Barrier(const Barrier&);
    Barrier(Barrier&&) noexcept;
    Barrier& operator=(const Barrier&);
    Barrier& operator=(Barrier&& other) noexcept;
    ~Barrier();

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    // Arrives, and blocks until all parties have arrived. invalid_argument: there are no more
    // parties, or options.wait_max is zero or less. resource_exhausted: this node takes part in 64
    // barriers, or a limit of Config was reached.
    void arrive_and_wait(const WaitOptions& options = {});
    void arrive_and_wait(std::error_code& ec);
    void arrive_and_wait(const WaitOptions& options, std::error_code& ec);

    // The same with a limit of the wait; WaitOptions::wait_max has no effect. False: the time ended
    // before all had arrived, and the barrier is broken. The time must be above zero, otherwise
    // nothing is done and the error is invalid_argument: to break a barrier takes a reason.
    [[nodiscard]] bool arrive_and_wait_for(Duration time, const WaitOptions& options = {});
    [[nodiscard]] bool arrive_and_wait_for(Duration time, std::error_code& ec);
    [[nodiscard]] bool arrive_and_wait_for(Duration time, const WaitOptions& options,
                                           std::error_code& ec);
    [[nodiscard]] bool arrive_and_wait_until(std::chrono::steady_clock::time_point deadline,
                                             const WaitOptions& options = {});
    [[nodiscard]] bool arrive_and_wait_until(std::chrono::steady_clock::time_point deadline,
                                             std::error_code& ec);
    [[nodiscard]] bool arrive_and_wait_until(std::chrono::steady_clock::time_point deadline,
                                             const WaitOptions& options, std::error_code& ec);

    // Arrives in this phase and leaves the barrier with its end: later phases have one party less.
    // Returns when the cluster has decided, and does not wait for others; blocks for at most
    // call_timeout. outcome_unknown: no answer came in time, and it may have arrived or not.
    void arrive_and_drop();
    void arrive_and_drop(std::error_code& ec);

private:
    friend const std::shared_ptr<detail::NodeRuntime>& detail::runtime_of(const Barrier&);
    friend detail::WaitOrder detail::order_of(const Barrier&, WaitOptions,
                                              std::chrono::steady_clock::time_point);

    std::shared_ptr<detail::NodeRuntime> node_;
    std::string name_;
    std::ptrdiff_t parties_;
};

}  // namespace mortise

#include <mortise/detail/macros_back.hpp>
