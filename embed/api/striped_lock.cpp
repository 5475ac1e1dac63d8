#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "core/base/checksum.hpp"
#include <mortise/errc.hpp>
#include <mortise/lock_error.hpp>
#include <mortise/lock_request.hpp>
#include <mortise/node.hpp>
#include <mortise/striped_lock.hpp>

namespace mortise {

namespace {

constexpr std::size_t striped_name_max = 500;
constexpr std::uint32_t stripes_max = 1'000'000;
// How long a try waits for another program that stores the number of stripes at that moment.
constexpr auto decided_within = std::chrono::seconds{1};

}  // namespace

StripedLock::StripedLock(Node& node, std::string_view name, std::uint32_t stripes)
    : node_{node}, name_{name}, stripes_{stripes} {
    const bool is_sound =
        !name.empty() && name.size() <= striped_name_max && stripes > 0 && stripes <= stripes_max;
    if (!is_sound)
        throw LockError{
            Errc::invalid_argument,
            {name_,
             {},
             {},
             "striped locks have a name of 1 to 500 bytes, and 1 to 1,000,000 stripes"}};
}

std::string StripedLock::name_of(std::string_view key) const {
    core::Checksum sum;
    sum.text(key);
    return name_ + '/' + std::to_string(sum.value() % stripes_);
}

// --- the number of stripes ----------------------------------------------------------------------

void StripedLock::compare(const std::string& number, std::error_code& ec) {
    if (number == std::to_string(stripes_)) {
        agreed_.store(true, std::memory_order_relaxed);
    } else {
        ec = Errc::kind_mismatch;
    }
}

// Others may decide at the same moment, so the value is read again under the lock.
void StripedLock::decide(const AcquireOptions& wait, std::error_code& ec) {
    const auto hold = node_.acquire(name_, wait, ec);
    if (ec) return;
    const auto number = hold.value(ec);
    if (ec) return;
    if (!number.empty()) return compare(number, ec);
    hold.set_value(std::to_string(stripes_), ec);
    agreed_.store(!ec, std::memory_order_relaxed);
}

// Waits no longer than the call that needs the number of stripes.
bool StripedLock::agree(Duration wait_max, const AcquireOptions& options, std::error_code& ec) {
    ec.clear();
    if (agreed_.load(std::memory_order_relaxed)) return true;
    if (options.cancel.stop_requested()) ec = Errc::cancelled;
    if (ec) return false;
    const auto info = node_.inspect(name_, ec);
    if (ec) return false;
    if (info.value) {
        compare(info.value->bytes, ec);
    } else {
        decide({.wait_max = wait_max, .cancel = options.cancel}, ec);
    }
    return !ec;
}

void StripedLock::refuse(std::error_code ec) const {
    ErrorDetail detail{name_, {}, {}, {}};
    if (ec == Errc::kind_mismatch) detail.reason = "the cluster uses another number of stripes";
    if (ec == Errc::timed_out)
        detail.reason = "somebody holds this name, under which the number of stripes is stored";
    throw LockError{ec, std::move(detail)};
}

void StripedLock::agree_or_throw(const AcquireOptions& options) {
    std::error_code ec;
    if (!agree(options.wait_max, options, ec)) refuse(ec);
}

// False without an error if the time is over.
bool StripedLock::agree_in_time(Duration wait_max, const AcquireOptions& options,
                                std::error_code& ec) {
    if (agree(wait_max, options, ec)) return true;
    if (ec == Errc::timed_out) ec.clear();
    return false;
}

bool StripedLock::agree_in_time_or_throw(Duration wait_max, const AcquireOptions& options) {
    std::error_code ec;
    const bool agreed = agree_in_time(wait_max, options, ec);
    if (ec) refuse(ec);
    return agreed;
}

// --- one key ------------------------------------------------------------------------------------

Hold StripedLock::acquire(std::string_view key, const AcquireOptions& options) {
    agree_or_throw(options);
    return node_.acquire(name_of(key), options);
}

Hold StripedLock::acquire(std::string_view key, std::error_code& ec) {
    return acquire(key, AcquireOptions{}, ec);
}

Hold StripedLock::acquire(std::string_view key, const AcquireOptions& options,
                          std::error_code& ec) {
    return agree(options.wait_max, options, ec) ? node_.acquire(name_of(key), options, ec) : Hold{};
}

std::optional<Hold> StripedLock::try_acquire(std::string_view key, const AcquireOptions& options) {
    if (!agree_in_time_or_throw(decided_within, options)) return std::nullopt;
    return node_.try_acquire(name_of(key), options);
}

std::optional<Hold> StripedLock::try_acquire(std::string_view key, std::error_code& ec) {
    return try_acquire(key, AcquireOptions{}, ec);
}

std::optional<Hold> StripedLock::try_acquire(std::string_view key, const AcquireOptions& options,
                                             std::error_code& ec) {
    if (!agree_in_time(decided_within, options, ec)) return std::nullopt;
    return node_.try_acquire(name_of(key), options, ec);
}

std::optional<Hold> StripedLock::acquire_for(std::string_view key, Duration wait,
                                             const AcquireOptions& options) {
    const auto until = std::chrono::steady_clock::now() + wait;
    if (!agree_in_time_or_throw(wait, options)) return std::nullopt;
    return node_.acquire_until(name_of(key), until, options);
}

std::optional<Hold> StripedLock::acquire_for(std::string_view key, Duration wait,
                                             std::error_code& ec) {
    return acquire_for(key, wait, AcquireOptions{}, ec);
}

std::optional<Hold> StripedLock::acquire_for(std::string_view key, Duration wait,
                                             const AcquireOptions& options, std::error_code& ec) {
    const auto until = std::chrono::steady_clock::now() + wait;
    if (!agree_in_time(wait, options, ec)) return std::nullopt;
    return node_.acquire_until(name_of(key), until, options, ec);
}

// --- several keys -------------------------------------------------------------------------------

namespace {

std::vector<LockRequest> stripe_requests(const StripedLock& lock, StripedLock::Keys keys,
                                         LockMode mode) {
    std::vector<LockRequest> requests;
    for (const auto key : keys) {
        const LockRequest one{lock.name_of(key), mode};
        if (std::ranges::find(requests, one) == requests.end()) requests.push_back(one);
    }
    return requests;
}

}  // namespace

HoldSet StripedLock::acquire_all(Keys keys, const AcquireOptions& options) {
    agree_or_throw(options);
    return node_.acquire_all(stripe_requests(*this, keys, options.mode), options);
}

HoldSet StripedLock::acquire_all(Keys keys, std::error_code& ec) {
    return acquire_all(keys, AcquireOptions{}, ec);
}

HoldSet StripedLock::acquire_all(Keys keys, const AcquireOptions& options, std::error_code& ec) {
    if (!agree(options.wait_max, options, ec)) return {};
    return node_.acquire_all(stripe_requests(*this, keys, options.mode), options, ec);
}

}  // namespace mortise
