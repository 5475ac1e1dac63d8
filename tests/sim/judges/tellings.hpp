// The judge of losses on a live node: the owner is notified before the hold is released, or its
// session is closed, after which the name may be granted to others, unless the notification takes
// too long (S6).
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
    // The present steady clock of a node.
    using Clock = std::function<core::Instant(core::NodeId)>;
    Tellings(Violations& violations, Tally& tally, Clock steady)
        : violations_{violations}, tally_{tally}, steady_{std::move(steady)} {}

    // The owner relies on the hold until now, and is about to be notified. `closes`: because the
    // node closes.
    void lost(core::NodeId node, core::OperationId hold, bool closes = false);
    // The owner was notified, and its node is about to be informed.
    void told(core::OperationId hold);
    // An entry was applied at some node.
    void applied(const LogBook& book);
    void node_lost(core::NodeId node);

private:
    struct Untold {
        core::NodeId node;
        core::Instant since;
        bool closes = false;
    };

    void went_back(core::OperationId hold, const Untold& untold);

    Violations& violations_;
    Tally& tally_;
    const Clock steady_;
    std::map<core::OperationId, Untold> untold_;
};

}  // namespace mortise::sim
