// Notices that a thread, its process or the machine did not run for a while.
#pragma once

#include <algorithm>

#include "core/base/instant.hpp"

namespace mortise::detail {

// It reads no clock.
class PauseWatch {
public:
    // `now` is any time before the first timer fires.
    explicit PauseWatch(core::Now now) : asleep_{now.boot - now.steady} {}

    // A timer that was due at `due` fires. Returns how long the thread did not run before: how late
    // the timer is, and how long the machine was suspended.
    [[nodiscard]] core::Nanoseconds fired(core::Instant due, core::Now now) {
        const auto asleep = now.boot - now.steady;
        // What became due in a pause is due again and again until all of it is done.
        const auto late = now.steady - std::max(due, fired_at_) + (asleep - asleep_);
        asleep_ = asleep;
        fired_at_ = now.steady;
        return late;
    }

private:
    // when the timer fired last, on the steady clock: set by fired()
    core::Instant fired_at_;
    // how long the machine was suspended since its start, as of the constructor or fired()
    core::Nanoseconds asleep_;
};

}  // namespace mortise::detail
