// The judge of how long names stay closed (S8, S9): when the cluster says that a min_hold or a
// lock_delay is over, as much true time has passed as was asked for.
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
    // What was asked for of a hold.
    using TermsOf = std::function<core::HoldTerms(core::OperationId)>;
    // May the clocks of a majority have been fast beyond the bound? Then nothing is promised.
    using TooFast = std::function<bool()>;

    ClosureTimes(Violations& violations, TermsOf terms_of, TooFast too_fast)
        : violations_{violations}, terms_of_{std::move(terms_of)}, too_fast_{std::move(too_fast)} {}

    // By any node, at that true time. Only the first time counts: nobody began to count before.
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
