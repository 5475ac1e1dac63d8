// The judge of what is lost on a node that lives: its owner is told before it goes back, which
// makes it somebody else's, unless that takes too long (S6).
#pragma once

#include <functional>
#include <map>
#include <utility>

#include "core/base/instant.hpp"
#include "tests/sim/base/tally.hpp"
#include "tests/sim/base/violations.hpp"
#include "tests/sim/judges/log_book.hpp"

namespace mortise::sim {

class Tellings {
public:
    // What the steady clock of a node shows now.
    using Clock = std::function<core::Instant(core::NodeId)>;
    Tellings(Violations& violations, Tally& tally, Clock steady)
        : violations_{violations}, tally_{tally}, steady_{std::move(steady)} {}

    // Its owner has it until then, and is about to be told.
    void lost(core::NodeId node, core::OperationId hold);
    // He was, and so will be his node.
    void told(core::OperationId hold);
    // Something was applied somewhere.
    void applied(const LogBook& book);
    void node_lost(core::NodeId node);

private:
    struct Untold {
        core::NodeId node;
        core::Instant since;
    };

    void went_back(core::OperationId hold, const Untold& untold);

    Violations& violations_;
    Tally& tally_;
    const Clock steady_;
    std::map<core::OperationId, Untold> untold_;
};

}  // namespace mortise::sim
