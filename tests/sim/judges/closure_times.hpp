// The judge of quorum timers (S8, S9): when the cluster decides that a min_hold or a lock_delay is
// over, at least the requested true time has passed; of an era, the time of the longest lease.
#pragma once

#include <functional>
#include <map>

#include "core/node/effects.hpp"
#include "tests/sim/base/event_heap.hpp"
#include "tests/sim/base/tally.hpp"
#include "tests/sim/base/violations.hpp"

namespace mortise::sim {

class ClosureTimes {
public:
    // The time limits that were requested for a hold.
    using TermsOf = std::function<core::HoldTerms(core::OperationId)>;
    // Whether the clocks of a majority may have been fast beyond the bound: then nothing is
    // promised.
    using TooFast = std::function<bool()>;

    ClosureTimes(Violations& violations, TermsOf terms_of, TooFast too_fast)
        : violations_{violations}, terms_of_{std::move(terms_of)}, too_fast_{std::move(too_fast)} {}

    // A node applied this at that true time. Only the first time counts, because no node began to
    // count before.
    void applied(core::NodeId node, const core::Applied& applied, SimTime now);

private:
    struct Begun {
        SimTime at = 0;
        SimTime least = 0;
    };

    void on_begun(const core::ClosureBegun& begun, SimTime now);
    void on_ended(core::NodeId node, const core::Applied& applied, core::ClosureId closure,
                  SimTime now);

    Violations& violations_;
    TermsOf terms_of_;
    TooFast too_fast_;
    core::LogIndex last_;
    std::map<core::ClosureId, Begun> begun_;
};

}  // namespace mortise::sim
