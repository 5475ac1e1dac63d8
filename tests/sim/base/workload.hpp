// The interface of the programs on the nodes. The simulation knows only this, so that workloads can
// be exchanged; each judges its own history.
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

    // Begins to call, and continues until stop().
    virtual void start() = 0;
    virtual void stop() = 0;

    // The publications of a node. After node_lost no more publications of that run come.
    virtual void node_started(core::NodeId node) = 0;
    virtual void node_lost(core::NodeId node) = 0;
    virtual void lost(core::NodeId node, const core::HoldLost& lost) = 0;
    virtual void suspended(core::NodeId node, core::OperationId hold) = 0;
    virtual void contended(core::NodeId node, const core::Contended& contended) = 0;
    virtual void lease_changed(core::NodeId node, const core::LeaseChanged& lease) = 0;
    virtual void answered(core::NodeId node, const core::CallAnswer& answer) = 0;
    virtual void applied(core::NodeId node, const core::Applied& applied) = 0;
    // A message of that node to a client.
    virtual void notified(core::NodeId node, core::ClientId client,
                          core::ClientNotice&& notice) = 0;
    // That node closes the connection of a client that has another one.
    virtual void hung_up(core::NodeId node, core::ClientId client) = 0;
    // A step has ended, and the node wants to be called again at `next`; both times are of its
    // steady clock.
    virtual void stepped(core::NodeId node, core::Instant now, core::Instant next) = 0;

    // This fault is being injected into that node: the workload may react.
    virtual void struck(core::NodeId node, Fault fault) = 0;
    // The node was paused, and its programs go on before it does.
    virtual void wakes(core::NodeId node) = 0;
    // A node that is interesting for faults: it holds something, and is not `other_than`. Not set
    // if there is none.
    [[nodiscard]] virtual core::NodeId holder(core::NodeId other_than) const = 0;
    // The node keeps its present holds for that time, if it can, and other nodes request them.
    virtual void contest(core::NodeId holder, SimTime length) = 0;

    // The faults have ended for these nodes. From now on their calls must be answered.
    virtual void begin_liveness(const std::vector<core::NodeId>& core) = 0;
    // Empty if everything that was owed since begin_liveness is done.
    [[nodiscard]] virtual std::string still_owed() const = 0;
    // The run has ended: judges what can only be judged as a whole.
    virtual void end() = 0;
};

}  // namespace mortise::sim
