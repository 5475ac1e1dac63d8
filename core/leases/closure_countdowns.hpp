// What every voter counts down besides sessions: the time for which a name stays closed, or a hold
// may last (S8, S9, S24), on its own steady clock (S5). As with sessions, what never ran, or is not
// running, has not run out.
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
    // `elapsed` of `patience` is over. Requires that it is not counted yet.
    void start(ClosureId closure, Nanoseconds patience, Nanoseconds elapsed, Instant now);
    void stop(ClosureId closure);

    // What is left of it by this node's clock; empty if it is not counted here.
    [[nodiscard]] std::optional<Nanoseconds> left(ClosureId closure, Instant now) const;
    // Those that ran out, until they are stopped: told again and again.
    [[nodiscard]] const std::set<ClosureId>& run_out() const { return run_out_; }
    // Moves to run_out() what ran out by now.
    void advance(Instant now);
    // When the next one runs out, or all are to be saved again.
    [[nodiscard]] Instant deadline() const;

    // From then on what was saved is too old; never while none runs.
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
