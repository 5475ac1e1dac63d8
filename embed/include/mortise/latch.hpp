// A latch of the cluster.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include <mortise/duration.hpp>
#include <mortise/enums.hpp>
#include <mortise/wait_options.hpp>

#include <mortise/detail/macros_aside.hpp>

namespace mortise {

class Latch;
class Node;

namespace detail {
class NodeRuntime;
struct WaitOrder;

[[nodiscard]] const std::shared_ptr<NodeRuntime>& runtime_of(const Latch& latch);
[[nodiscard]] WaitOrder order_of(const Latch& latch, WaitOptions options,
                                 std::chrono::steady_clock::time_point deadline);
[[nodiscard]] WaitOrder count_of(const Latch& latch, std::ptrdiff_t n);
}  // namespace detail

// A name with a count that only goes down, for processes that wait until others have done
// something. It has the members of std::latch (S35). Who waits passes when the count is zero, and
// holds nothing then: a latch has no hold and no token.
//
// Each count is counted exactly once, also when this node sends it again or the leader changes, and
// it stays counted when its process dies. A process that dies before it counts leaves the others
// waiting: limit their wait, or use a Barrier, which breaks then.
//
// The latch exists from its first count or wait on, until Node::remove(), also without anybody who
// uses it and when its count is zero. A latch is used once: after Node::remove() the name may be a
// new latch, or something else. A count or a wait that comes after the removal makes a new latch,
// with the count of its own object: a late count is missing in the former latch, and one too many
// in the new one. So use a name once, for example with the number of the run ("import/2026-11-29"),
// and remove it when all who count have returned. Until then a call for a lock or a semaphore of
// that name fails with kind_mismatch, and so do the calls of this class while the name is one of
// those.
//
// A Latch is a handle and may be copied. All members are thread-safe, except construction,
// assignment and destruction. It may outlive the Node; its calls then fail with node_stopped.
//
// Errors: as for Node. The forms with `ec` do not throw, and `ec` is cleared on success; the others
// throw LockError. Either may throw std::bad_alloc.
class Latch {
public:
    // The largest count.
    [[nodiscard]] static constexpr std::ptrdiff_t max() noexcept { return 0x7fff'ffff; }

    // `expected`, 0 to max(), is the count if a call of this object creates the latch; if it
    // exists, it keeps its own. Does not ask the cluster and does not block. Throws LockError:
    // invalid_argument for the name or the count; node_stopped or forked.
    Latch(const Node& node, std::string_view name, std::ptrdiff_t expected);
    Latch(const Latch&);
    Latch(Latch&&) noexcept;
    Latch& operator=(const Latch&);
    Latch& operator=(Latch&& other) noexcept;
    ~Latch();

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    // Counts down by `n`, 0 to max(). Fails with invalid_argument if less than that remains; then
    // nothing was counted. Returns when the cluster has decided, and does not wait for others;
    // blocks for at most call_timeout. outcome_unknown: no answer came in time, and it may have
    // been counted or not.
    void count_down(std::ptrdiff_t n = 1);
    void count_down(std::error_code& ec);
    void count_down(std::ptrdiff_t n, std::error_code& ec);

    // Whether the count is zero. It creates no latch: if there is none, the count is this object's
    // own. Blocks for at most call_timeout; with ReadLevel::local it does not ask the cluster, and
    // may be late.
    [[nodiscard]] bool try_wait(ReadLevel level = ReadLevel::linearizable) const;
    [[nodiscard]] bool try_wait(std::error_code& ec) const;
    [[nodiscard]] bool try_wait(ReadLevel level, std::error_code& ec) const;

    // Blocks until the count is zero. timed_out or cancelled: see WaitOptions. session_expired: the
    // session of this node has ended meanwhile; wait again.
    void wait(const WaitOptions& options = {}) const;
    void wait(std::error_code& ec) const;
    void wait(const WaitOptions& options, std::error_code& ec) const;

    // Like wait(), but returns false when the time ends first; WaitOptions::wait_max has no effect.
    // A time of zero or less asks once, like try_wait().
    [[nodiscard]] bool wait_for(Duration time, const WaitOptions& options = {}) const;
    [[nodiscard]] bool wait_for(Duration time, std::error_code& ec) const;
    [[nodiscard]] bool wait_for(Duration time, const WaitOptions& options,
                                std::error_code& ec) const;
    [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point deadline,
                                  const WaitOptions& options = {}) const;
    [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point deadline,
                                  std::error_code& ec) const;
    [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point deadline,
                                  const WaitOptions& options, std::error_code& ec) const;

    // count_down(n), then wait(options). After an error of the wait the count stays counted. Who
    // arrives when the count is zero is one too many: invalid_argument, as for count_down() (for
    // std::latch that is undefined). Use wait() or try_wait() where that may happen.
    void arrive_and_wait(std::ptrdiff_t n = 1, const WaitOptions& options = {});
    void arrive_and_wait(std::error_code& ec);
    void arrive_and_wait(std::ptrdiff_t n, std::error_code& ec);
    void arrive_and_wait(std::ptrdiff_t n, const WaitOptions& options, std::error_code& ec);

private:
    friend const std::shared_ptr<detail::NodeRuntime>& detail::runtime_of(const Latch&);
    friend detail::WaitOrder detail::order_of(const Latch&, WaitOptions,
                                              std::chrono::steady_clock::time_point);
    friend detail::WaitOrder detail::count_of(const Latch&, std::ptrdiff_t);

    std::shared_ptr<detail::NodeRuntime> node_;
    std::string name_;
    std::ptrdiff_t expected_;
};

}  // namespace mortise

#include <mortise/detail/macros_back.hpp>
