// The limits of a hold's time besides its lease: max_hold, and the time until the next checkpoint.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include "core/base/instant.hpp"

namespace mortise::detail {

// Thread-safe. It reads no clock: all times are of the boot clock.
class TimeLimits {
public:
    // Before others can see it. `ends`: the end of max_hold, never without it; a progress_timeout
    // of zero: none.
    void set(core::Instant ends, core::Nanoseconds progress_timeout) {
        ends_ = ends;
        progress_timeout_ = progress_timeout;
    }
    // Begins before the cluster can begin to count the time for this hold.
    void begin(core::Instant now) {
        if (progress_timeout_ == core::Nanoseconds{0}) return;
        works_until_.store((now + progress_timeout_).ns, std::memory_order_release);
    }

    // The time by which the next checkpoint is due; never without progress_timeout.
    [[nodiscard]] core::Instant works_until() const {
        return {works_until_.load(std::memory_order_acquire)};
    }
    [[nodiscard]] core::Instant ends_at() const { return std::min(ends_, works_until()); }
    // The time until the next checkpoint begins anew, unless it has passed (S8).
    void checkpoint(core::Instant now) {
        auto until = works_until();
        if (until == core::Instant::never() || now >= until) return;
        // Another thread may have read a later time and was faster.
        const auto next = now + progress_timeout_;
        if (next > until) works_until_.compare_exchange_strong(until.ns, next.ns);
    }
    // True if the time until the next checkpoint has passed; it stays true. A checkpoint at the
    // same moment is either too late or comes first.
    [[nodiscard]] bool end_if_idle(core::Instant now) {
        auto until = works_until();
        if (now < until) return false;
        constexpr auto idle = std::numeric_limits<std::int64_t>::min();
        return works_until_.compare_exchange_strong(until.ns, idle);
    }

private:
    // the end of max_hold: set by set()
    core::Instant ends_ = core::Instant::never();
    // the time between two checkpoints: set by set()
    core::Nanoseconds progress_timeout_{0};
    // when the next checkpoint is due: set by begin(), checkpoint() and end_if_idle()
    std::atomic<std::int64_t> works_until_{core::Instant::never().ns};
};

}  // namespace mortise::detail
