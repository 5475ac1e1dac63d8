// Observers whose position their node has not reached (core::Observer::is_ahead). Most of them come
// from a node that is ahead of this one. But the position may be of a log that is gone, and then
// nothing would be told until the present log has passed it, and the wrong changes after that. One
// read of the cluster that begins after an observer has come tells which it is: when it is
// answered, this node has everything that any node had told before.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "core/base/instant.hpp"
#include "core/observe/observer.hpp"
#include "embed/threads/call_gate.hpp"

namespace mortise::detail {

// For one run of a node, on its core thread. Times are of the steady clock.
class AheadObservers {
public:
    // The gate wakes the core thread.
    AheadObservers(std::shared_ptr<CallGate> gate, core::Nanoseconds retry_after)
        : gate_{std::move(gate)}, retry_after_{retry_after} {}

    // Begins the observer anew if its position is of no log of this cluster. `since` is kept for
    // the observer: since when it is ahead, never() if it is not.
    void judge(core::Observer& observer, core::Instant& since, const core::ChangeRing& changes,
               core::Instant now) {
        if (!observer.is_ahead(changes)) {
            since = core::Instant::never();
            return;
        }
        since = std::min(since, now);
        if (read_began_ > since && !is_reading_) {
            observer.begin_anew();
            since = core::Instant::never();
        } else if (!std::exchange(is_wanted_, true)) {
            gate_->wake_up();
        }
    }
    // True if a read is to begin now. Its end is to be reported.
    [[nodiscard]] bool begin_read(core::Instant now) {
        if (!is_wanted_ || is_reading_ || now < not_before_) return false;
        is_reading_ = true;
        read_began_ = now;
        return true;
    }
    void end_read(bool has_succeeded, core::Instant now) {
        is_reading_ = false;
        is_wanted_ = false;
        if (has_succeeded) return;
        read_began_ = {};
        not_before_ = now + retry_after_;
    }

private:
    std::shared_ptr<CallGate> gate_;
    core::Nanoseconds retry_after_;
    bool is_wanted_ = false;
    bool is_reading_ = false;
    core::Instant read_began_;
    core::Instant not_before_;
};

}  // namespace mortise::detail
