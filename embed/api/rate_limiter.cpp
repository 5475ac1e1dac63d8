#include <string>
#include <utility>

#include "embed/values/terms.hpp"
#include <mortise/errc.hpp>
#include <mortise/hold.hpp>
#include <mortise/lock_error.hpp>
#include <mortise/rate_limiter.hpp>

namespace mortise {

namespace {

// The release need not be awaited: the slots stay taken for their time all the same.
std::vector<Slot> slots_of(Hold hold) {
    const auto slots = hold.slots();
    std::vector<Slot> permits{slots.begin(), slots.end()};
    hold.unlock();
    return permits;
}

std::optional<std::vector<Slot>> slots_of(std::optional<Hold> hold) {
    if (!hold) return std::nullopt;
    return slots_of(std::move(*hold));
}

}  // namespace

RateLimiter::RateLimiter(const Node& node, std::string_view name, std::uint32_t permits,
                         Duration per)
    : semaphore_{node, name, permits}, permits_{permits}, per_{per} {
    if (detail::is_interval(per)) return;
    throw LockError{
        Errc::invalid_argument,
        {std::string{name}, {}, {}, "the time of a permit is above zero, and at most 24 days"}};
}

AcquireOptions RateLimiter::with_time(const AcquireOptions& options) const {
    AcquireOptions own;
    own.label = options.label;
    own.wait_max = options.wait_max;
    own.priority = options.priority;
    own.cancel = options.cancel;
    own.min_hold = per_;
    return own;
}

bool RateLimiter::has(std::uint32_t n, std::error_code& ec) const {
    ec.clear();
    if (n > permits_) ec = Errc::invalid_argument;
    return !ec;
}

void RateLimiter::check(std::uint32_t n) const {
    std::error_code ec;
    if (has(n, ec)) return;
    throw LockError{ec, {semaphore_.name(), {}, {}, "the limiter has fewer permits"}};
}

std::vector<Slot> RateLimiter::acquire(std::uint32_t n, const AcquireOptions& options) {
    check(n);
    return slots_of(semaphore_.acquire(n, with_time(options)));
}

std::vector<Slot> RateLimiter::acquire(std::uint32_t n, std::error_code& ec) {
    return acquire(n, AcquireOptions{}, ec);
}

std::vector<Slot> RateLimiter::acquire(std::uint32_t n, const AcquireOptions& options,
                                       std::error_code& ec) {
    if (!has(n, ec)) return {};
    return slots_of(semaphore_.acquire(n, with_time(options), ec));
}

std::optional<std::vector<Slot>> RateLimiter::try_acquire(std::uint32_t n,
                                                          const AcquireOptions& options) {
    check(n);
    return slots_of(semaphore_.try_acquire(n, with_time(options)));
}

std::optional<std::vector<Slot>> RateLimiter::try_acquire(std::uint32_t n, std::error_code& ec) {
    return try_acquire(n, AcquireOptions{}, ec);
}

std::optional<std::vector<Slot>> RateLimiter::try_acquire(std::uint32_t n,
                                                          const AcquireOptions& options,
                                                          std::error_code& ec) {
    if (!has(n, ec)) return std::nullopt;
    return slots_of(semaphore_.try_acquire(n, with_time(options), ec));
}

std::optional<std::vector<Slot>> RateLimiter::acquire_for(std::uint32_t n, Duration wait_max,
                                                          const AcquireOptions& options) {
    check(n);
    return slots_of(semaphore_.acquire_for(n, wait_max, with_time(options)));
}

std::optional<std::vector<Slot>> RateLimiter::acquire_for(std::uint32_t n, Duration wait_max,
                                                          std::error_code& ec) {
    return acquire_for(n, wait_max, AcquireOptions{}, ec);
}

std::optional<std::vector<Slot>> RateLimiter::acquire_for(std::uint32_t n, Duration wait_max,
                                                          const AcquireOptions& options,
                                                          std::error_code& ec) {
    if (!has(n, ec)) return std::nullopt;
    return slots_of(semaphore_.acquire_for(n, wait_max, with_time(options), ec));
}

}  // namespace mortise
