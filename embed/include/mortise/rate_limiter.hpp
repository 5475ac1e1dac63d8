// A rate limiter of the cluster, whose permits are fenced.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include <mortise/duration.hpp>
#include <mortise/options.hpp>
#include <mortise/semaphore.hpp>
#include <mortise/slot.hpp>

namespace mortise {

// The cluster grants at most `permits` permits in any stretch of time of the length `per`, to all
// programs together. Use it for a service that allows a hundred calls a second in all, for example.
//
// - A permit is a slot of a Semaphore that stays taken until `per` after its grant (min_hold, S8).
//   A majority of the clocks counts that, so neither a failover nor a process that dies or has a
//   wrong clock makes the cluster grant more. Either may make it grant less for a moment.
//   break_lock() frees a permit before its time.
// - The limit is on the grants, not on what the programs do with them. A program that receives its
//   permit late, because its node was cut off or the leader changed, or that is paused, may act
//   closer to the next permit than `per`. Then the service may see more than `permits` calls in
//   that time.
// - A permit is used at once, and need not be given back. It has a number and a token, as a Slot
//   does: of two permits with the same number the later one has the greater token. A service that
//   remembers the newest token for each number (FenceGate) refuses a call that was made with a
//   permit of long ago, by a process that was paused between the permit and the call.
// - Permits are given in the order of the requests. A request for several gets them together.
//
// All programs must use the same numbers for a name, which nothing checks. If they do not, then
// `permits` is that of the program whose request found no permit taken and nobody waiting, until
// that is so again; and each permit stays taken for the `per` of the program that has it. A request
// for more permits than there are then waits until its time limit, and later ones wait behind it.
//
// Each permit is a commit of the cluster, and another one when its time is over: the limiter is for
// some hundred permits a second, not for every request of a busy server. There, take a permit for a
// batch of requests.
//
// Thread-safe. May outlive the Node; its calls then fail with node_stopped. The calls block and
// fail like those of Semaphore. Of the options, `label`, `priority`, `wait_max` and `cancel` count.
class RateLimiter {
public:
    // `permits` is 1 to 65,536, `per` above zero and at most 24 days; otherwise it throws LockError
    // with invalid_argument. Does not ask the cluster.
    RateLimiter(const Node& node, std::string_view name, std::uint32_t permits, Duration per);

    // Waits for `n` permits, from 1 to 1,024. More than the limiter has are invalid_argument.
    std::vector<Slot> acquire(std::uint32_t n = 1, const AcquireOptions& options = {});
    std::vector<Slot> acquire(std::uint32_t n, std::error_code& ec);
    std::vector<Slot> acquire(std::uint32_t n, const AcquireOptions& options, std::error_code& ec);

    // Makes one attempt: empty if there are too few permits now.
    [[nodiscard]] std::optional<std::vector<Slot>> try_acquire(std::uint32_t n = 1,
                                                               const AcquireOptions& options = {});
    [[nodiscard]] std::optional<std::vector<Slot>> try_acquire(std::uint32_t n,
                                                               std::error_code& ec);
    [[nodiscard]] std::optional<std::vector<Slot>> try_acquire(std::uint32_t n,
                                                               const AcquireOptions& options,
                                                               std::error_code& ec);

    // Like acquire(), but empty when the time ends first.
    [[nodiscard]] std::optional<std::vector<Slot>> acquire_for(std::uint32_t n, Duration wait_max,
                                                               const AcquireOptions& options = {});
    [[nodiscard]] std::optional<std::vector<Slot>> acquire_for(std::uint32_t n, Duration wait_max,
                                                               std::error_code& ec);
    [[nodiscard]] std::optional<std::vector<Slot>> acquire_for(std::uint32_t n, Duration wait_max,
                                                               const AcquireOptions& options,
                                                               std::error_code& ec);

private:
    [[nodiscard]] AcquireOptions with_time(const AcquireOptions& options) const;
    [[nodiscard]] bool has(std::uint32_t n, std::error_code& ec) const;
    void check(std::uint32_t n) const;

    Semaphore semaphore_;
    std::uint32_t permits_;
    Duration per_;
};

}  // namespace mortise
