// The judge of observers (S46). Some on each node observe names, at their own pace. What each was
// told, and nothing else, must make the state of its node again whenever it was told everything.
// When its node is lost it continues on another one, or on the same after its restart, from the
// position that it has reached.
#pragma once

#include <vector>

#include "core/node/node_core.hpp"
#include "core/observe/observer.hpp"
#include "tests/sim/base/tally.hpp"
#include "tests/sim/base/violations.hpp"
#include "tests/spec/replay.hpp"

namespace mortise::sim {

class Observations {
public:
    // Draws from its own seed, so that a run is the same without it.
    Observations(Violations& violations, Tally& tally, std::uint64_t seed, std::uint64_t nodes);

    // A step of the node has ended.
    void stepped(core::NodeId node, const core::NodeCore& core);
    void node_lost(core::NodeId node);

private:
    struct Observing {
        core::ObservedNames names;
        core::Observer observer;
        spec::Replay replay;
        core::NodeId at;         // not set: its node was lost
        std::uint64_t pace = 1;  // it is told something in one of so many steps
        bool has_moved = false;  // since it was told something
    };

    void move_to(core::NodeId node, Observing& one);
    void tell(core::NodeId node, const core::NodeCore& core, Observing& one);
    void take(core::NodeId node, const core::Observed& told, Observing& one);
    void compare(core::NodeId node, const core::NodeCore& core, const Observing& one);

    Violations& violations_;
    Tally& tally_;
    core::Prng prng_;
    std::vector<Observing> all_;
};

}  // namespace mortise::sim
