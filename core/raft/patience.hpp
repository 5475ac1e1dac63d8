// How long a follower waits for a silent leader before it suspects it, by what it has heard so far:
// a few heartbeats while the messages come on time, and the configured election timeout as soon as
// they come late. One delay widens it at once; it narrows when none was seen for a while.
#pragma once

#include <algorithm>

#include "core/base/instant.hpp"

namespace mortise::core {

class Patience {
public:
    Patience(Nanoseconds heartbeat, Nanoseconds election_timeout)
        : least_{std::min(heartbeat * heartbeats_min, election_timeout)},
          most_{election_timeout},
          period_{election_timeout * period_timeouts} {}

    // Notes a delay: the time between two messages of the leader, or how late this node was itself.
    void note(Nanoseconds delay, Instant now) {
        if (now >= period_ends_) {
            // After a longer pause the older period says nothing about the present any more.
            before_ = now < period_ends_ + period_ ? largest_ : Nanoseconds{0};
            largest_ = Nanoseconds{0};
            period_ends_ = now + period_;
        }
        largest_ = std::max(largest_, delay);
    }

    [[nodiscard]] Nanoseconds value() const {
        const auto largest = std::max(largest_, before_);
        // Not multiplied first: a delay may be as long as a node was suspended.
        if (largest >= most_ / delays) return most_;
        return std::max(least_, largest * delays);
    }

private:
    // A calm leader is suspected when about this many of its heartbeats are missing.
    static constexpr int heartbeats_min = 5;
    // A silence is unusual if it is this many times as long as the longest delay seen lately.
    static constexpr int delays = 4;
    // The largest delay counts for one to two periods of this many election timeouts.
    static constexpr int period_timeouts = 16;

    Nanoseconds least_;
    Nanoseconds most_;
    Nanoseconds period_;
    Nanoseconds largest_{};  // in the present period
    Nanoseconds before_{};   // in the one before
    Instant period_ends_{};
};

}  // namespace mortise::core
