// The countdowns of a voter for quorum timers: the time for which a name stays closed, or a hold
// may last (S8, S9, S24), on its own steady clock (S5). As with sessions, a countdown that never
// ran, or is not running, has not elapsed.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/instant.hpp"
#include "core/leases/countdowns.hpp"

namespace mortise::core {

class ClosureCountdowns {
public:
    // Starts the countdown with `elapsed` of `patience` already over. It must not be counted yet.
    void start(ClosureId closure, Nanoseconds patience, Nanoseconds elapsed, Instant now);
    void stop(ClosureId closure);

    // The rest of it by this node's clock; empty if it is not counted here.
    [[nodiscard]] std::optional<Nanoseconds> left(ClosureId closure, Instant now) const;
    // The elapsed ones, until they are stopped; they are reported again and again.
    [[nodiscard]] const std::set<ClosureId>& run_out() const { return run_out_; }
    // Moves the countdowns that have elapsed by now to run_out().
    void advance(Instant now);
    // When the next one elapses, or all have to be saved again.
    [[nodiscard]] Instant deadline() const;

    // From then on the saved values are too old; never while none runs.
    [[nodiscard]] Instant save_at() const { return save_at_; }
    [[nodiscard]] std::vector<SavedCountdown> save(Instant now) const;
    void saved(Instant now);

private:
    struct Running {
        Instant started;
        Instant ends;

        [[nodiscard]] Nanoseconds save_period() const;
    };

    std::map<ClosureId, Running> running_;
    std::set<std::pair<Instant, ClosureId>> by_end_;
    std::set<ClosureId> run_out_;
    Instant save_at_ = Instant::never();
};

}  // namespace mortise::core
