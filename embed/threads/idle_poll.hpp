// How long a thread of a node that has run out of work looks for more before it sleeps. To wake a
// thread often takes longer than the work that it is woken for. So while work comes every few
// hundred microseconds, the thread looks again instead (docs/decisions/0087).
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "core/base/instant.hpp"

namespace mortise::detail {

// Used by one thread. It reads no clock: every function is told the time.
class IdlePoll {
public:
    explicit IdlePoll(bool enabled) : enabled_{enabled} {}

    // There is no work. True: yield the processor, tell yielded(), then look again. False: sleep.
    [[nodiscard]] bool looks_again(core::Instant now) {
        if (!enabled_) return false;
        if (!idle_since_) idle_since_ = now;
        looked_at_ = now;
        return mean_gap_ < gap_max && now >= rests_until_ && now - *idle_since_ < look_max;
    }
    void yielded(core::Instant now) {
        if (now - looked_at_ > yield_max) rests_until_ = now + rest;
    }
    // There is work: it was found at this time.
    void found_work(core::Instant now) {
        if (!idle_since_) return;
        const auto gap = std::min<core::Nanoseconds>(now - *idle_since_, long_gap);
        mean_gap_ += (gap - mean_gap_) / 8;
        idle_since_.reset();
    }

private:
    static constexpr core::Nanoseconds look_max = std::chrono::microseconds{100};
    // The mean of the time without work. Above it, work comes too seldom to look for it.
    static constexpr core::Nanoseconds gap_max = std::chrono::microseconds{500};
    // Longer gaps count as this. One of them keeps the mean above gap_max for the next eight gaps,
    // so that an idle node, whose heartbeats come every 100 ms, never looks.
    static constexpr core::Nanoseconds long_gap = std::chrono::milliseconds{10};
    // A yield that takes longer has run another program for a slice of its time. Beside such a
    // program each look would cost another slice, so the thread sleeps at once for a while.
    static constexpr core::Nanoseconds yield_max = std::chrono::milliseconds{1};
    static constexpr core::Nanoseconds rest = std::chrono::milliseconds{20};

    bool enabled_;
    core::Nanoseconds mean_gap_ = long_gap;
    std::optional<core::Instant> idle_since_;
    core::Instant looked_at_;
    core::Instant rests_until_;
};

}  // namespace mortise::detail
