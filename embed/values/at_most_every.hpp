// Lets a report pass at most once in a given time.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "core/base/instant.hpp"

namespace mortise::detail {

// Thread-safe.
class AtMostEvery {
public:
    explicit AtMostEvery(core::Nanoseconds pause) : pause_{pause} {}

    // True for the first call, and for one call each time the pause has passed since the last true
    // one. `now` is on the steady clock.
    [[nodiscard]] bool passes(core::Instant now) noexcept {
        auto last = last_.load();
        if (now < core::Instant{last} + pause_) return false;
        return last_.compare_exchange_strong(last, now.ns);
    }

private:
    // the least time between two reports: set by the constructor
    const core::Nanoseconds pause_;
    // when passes() was true last
    std::atomic<std::int64_t> last_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace mortise::detail
