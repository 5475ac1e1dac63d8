// A counting semaphore of the cluster.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <mortise/duration.hpp>
#include <mortise/hold.hpp>
#include <mortise/options.hpp>

namespace mortise {

class Node;
class Semaphore;

namespace detail {
class NodeRuntime;
struct AcquireOrder;
enum class Attempt : std::uint8_t;

[[nodiscard]] const std::shared_ptr<NodeRuntime>& runtime_of(const Semaphore& semaphore);
[[nodiscard]] AcquireOrder order_of(const Semaphore& semaphore, std::uint32_t n,
                                    AcquireOptions options, Attempt attempt,
                                    std::chrono::steady_clock::time_point deadline);
}  // namespace detail

// A name that several holders have at once, up to a limit. Each acquire takes one or more permits;
// they are a Hold, which ends like any other: by its release, or with the session of its process
// (S34). Nothing else gives permits back, and a Hold gives back only its own.
//
// Hold::slots() has the numbers of the permits, each with the token of the hold. Hold::token()
// grows with every grant but does not protect a resource alone, because older holders are valid as
// well: protect each slot, see FenceGate::admit().
//
// Requests are served in the order of arrival, within priorities as for locks. No request overtakes
// an earlier one, even if it wants fewer permits. So a request for more permits than the limit
// waits until the limit grows, and every later one waits behind it: it is no error, because
// resize() may come at any time, before the request or after it. Where that is not meant, compare
// with limit(), or limit the wait. try_acquire() is empty and keeps nobody waiting.
//
// A name is either a lock or a semaphore, as long as somebody holds it or waits for it, or as long
// as it has something to keep (Node::remove). The wrong kind of call fails with kind_mismatch. A
// name that was a lock may stay one for about a second after its release, because a node has it
// cached; locks with Caching::off do not (AcquireOptions::caching).
//
// In the options: `mode`, `locker` and `queue_policy` must have their defaults, otherwise the call
// fails with invalid_argument; `caching` has no effect, since permits are never cached. There is no
// deadlock detection, because any holder may let a waiter in.
//
// A Semaphore is a handle and may be copied. All members are thread-safe, except construction,
// assignment and destruction. It may outlive the Node; its calls then fail with node_stopped.
//
// Errors: as for Node. The forms with `ec` do not throw, and `ec` is cleared on success and on an
// empty answer; the others throw LockError. Either may throw std::bad_alloc. Each call fails with
// invalid_argument if the name, the limit or `n` is invalid: `n` is 1 to 1,024.
class Semaphore {
public:
    // `limit`, 1 to 65,536, is the number of permits if this object's acquire creates the
    // semaphore; if it exists, it keeps its limit. Does not ask the cluster and does not block.
    // Throws LockError: invalid_argument for the name or the limit; node_stopped or forked.
    Semaphore(const Node& node, std::string_view name, std::uint32_t limit);
    Semaphore(const Semaphore&);
    Semaphore(Semaphore&&) noexcept;
    Semaphore& operator=(const Semaphore&);
    Semaphore& operator=(Semaphore&& other) noexcept;
    ~Semaphore();

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    // Waits for `n` permits, like Node::acquire().
    [[nodiscard]] Hold acquire(std::uint32_t n = 1, const AcquireOptions& options = {});
    [[nodiscard]] Hold acquire(std::error_code& ec);
    [[nodiscard]] Hold acquire(std::uint32_t n, std::error_code& ec);
    [[nodiscard]] Hold acquire(std::uint32_t n, const AcquireOptions& options, std::error_code& ec);

    // Makes one attempt, like Node::try_acquire(): empty when there are too few permits, or when an
    // earlier request waits.
    [[nodiscard]] std::optional<Hold> try_acquire(std::uint32_t n = 1,
                                                  const AcquireOptions& options = {});
    [[nodiscard]] std::optional<Hold> try_acquire(std::error_code& ec);
    [[nodiscard]] std::optional<Hold> try_acquire(std::uint32_t n, std::error_code& ec);
    [[nodiscard]] std::optional<Hold> try_acquire(std::uint32_t n, const AcquireOptions& options,
                                                  std::error_code& ec);

    // Like acquire(), but empty when the time ends first; like Node::acquire_for().
    [[nodiscard]] std::optional<Hold> acquire_for(std::uint32_t n, Duration wait_max,
                                                  const AcquireOptions& options = {});
    [[nodiscard]] std::optional<Hold> acquire_for(std::uint32_t n, Duration wait_max,
                                                  std::error_code& ec);
    [[nodiscard]] std::optional<Hold> acquire_for(std::uint32_t n, Duration wait_max,
                                                  const AcquireOptions& options,
                                                  std::error_code& ec);
    [[nodiscard]] std::optional<Hold> acquire_until(std::uint32_t n,
                                                    std::chrono::steady_clock::time_point deadline,
                                                    const AcquireOptions& options = {});
    [[nodiscard]] std::optional<Hold> acquire_until(std::uint32_t n,
                                                    std::chrono::steady_clock::time_point deadline,
                                                    std::error_code& ec);
    [[nodiscard]] std::optional<Hold> acquire_until(std::uint32_t n,
                                                    std::chrono::steady_clock::time_point deadline,
                                                    const AcquireOptions& options,
                                                    std::error_code& ec);

    // Changes the limit to 0 to 65,536, for everybody. No permit is taken away: if more are held
    // now, nobody gets one until enough came back; with zero nobody gets any. Waiters are let in if
    // it grows. Creates the semaphore if it does not exist. It exists from then on, with or without
    // holders, until Node::remove(). Returns when the cluster has decided; blocks for at most
    // call_timeout. outcome_unknown: no answer came in time.
    void resize(std::uint32_t limit);
    void resize(std::uint32_t limit, std::error_code& ec);
    // The same, if the limit has this version: 1 until the first change, and one more with each
    // change; LockInfo::limit has it. False, without an effect, if it has another one. There is no
    // version 0: invalid_argument. It begins anew in another cluster, and when the name was
    // removed: compare with one that was just read.
    [[nodiscard]] bool resize(std::uint32_t limit, std::uint64_t expected_version);
    [[nodiscard]] bool resize(std::uint32_t limit, std::uint64_t expected_version,
                              std::error_code& ec);

    // The limit that is in force; this object's own if the semaphore does not exist. Asks the
    // cluster; blocks for at most call_timeout.
    [[nodiscard]] std::uint32_t limit() const;
    [[nodiscard]] std::uint32_t limit(std::error_code& ec) const;

private:
    friend const std::shared_ptr<detail::NodeRuntime>& detail::runtime_of(const Semaphore&);
    friend detail::AcquireOrder detail::order_of(const Semaphore&, std::uint32_t, AcquireOptions,
                                                 detail::Attempt,
                                                 std::chrono::steady_clock::time_point);

    std::shared_ptr<detail::NodeRuntime> node_;
    std::string name_;
    std::uint32_t limit_;
};

}  // namespace mortise
