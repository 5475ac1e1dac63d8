// What the users of the nodes do. The simulation knows no more of it than this, so that one
// workload can be put in another's place; each judges its own history.
#pragma once

#include <string>
#include <vector>

#include "core/node/effects.hpp"
#include "tests/sim/base/event_heap.hpp"
#include "tests/sim/base/tally.hpp"

namespace mortise::sim {

class Workload {
public:
    virtual ~Workload() = default;

    // Starts calling, and goes on until stop().
    virtual void start() = 0;
    virtual void stop() = 0;

    // What a node publishes. After node_lost nothing of that life comes any more.
    virtual void node_started(core::NodeId node) = 0;
    virtual void node_lost(core::NodeId node) = 0;
    virtual void lost(core::NodeId node, const core::HoldLost& lost) = 0;
    virtual void suspended(core::NodeId node, core::OperationId hold) = 0;
    virtual void contended(core::NodeId node, const core::Contended& contended) = 0;
    virtual void lease_changed(core::NodeId node, const core::LeaseChanged& lease) = 0;
    virtual void answered(core::NodeId node, const core::CallAnswer& answer) = 0;
    virtual void applied(core::NodeId node, const core::Applied& applied) = 0;
    // A step of it is over, and it is to be called again at `next`; both of its steady clock.
    virtual void stepped(core::NodeId node, core::Instant now, core::Instant next) = 0;

    // This is being done to that node: the moment for its program to do something as well.
    virtual void struck(core::NodeId node, Fault fault) = 0;
    // A node that faults should look at: one that holds something, and is not `other_than`. Not set
    // when there is none.
    [[nodiscard]] virtual core::NodeId holder(core::NodeId other_than) const = 0;
    // What this node holds now it keeps so long, if it can; and the others want it.
    virtual void contest(core::NodeId holder, SimTime length) = 0;

    // Faults are over for these nodes. From here on, what is asked of them must be answered.
    virtual void begin_liveness(const std::vector<core::NodeId>& core) = 0;
    // Empty when everything that was owed since begin_liveness has been done.
    [[nodiscard]] virtual std::string still_owed() const = 0;
    // The run is over: what can only be judged as a whole.
    virtual void end() = 0;
};

}  // namespace mortise::sim
