// The judge of contention notifications (S24): holders are notified only of requests for their
// holds, of every request to release, and at once when a request begins to wait.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/locks/machine/lock_machine.hpp"
#include "core/node/effects.hpp"
#include "tests/sim/base/tally.hpp"
#include "tests/sim/base/violations.hpp"

namespace mortise::sim {

// Whether somebody whose session is alive waits for that name of the hold.
[[nodiscard]] bool keeps_waiting(const core::LockMachine& machine, const std::string& name,
                                 core::OperationId hold);

class Contentions {
public:
    Contentions(Violations& violations, Tally& tally) : violations_{violations}, tally_{tally} {}

    // The owner wants notifications from now on.
    void watched(core::NodeId node, core::OperationId hold, std::vector<std::string> names);
    // The owner has released the hold: notifications in progress do not matter.
    void released(core::OperationId hold);
    // Its owner gets notifications, which are not judged.
    void not_judged(core::OperationId hold) { released_.insert(hold); }
    void lost(core::OperationId hold) { watched_.erase(hold); }
    void node_lost(core::NodeId node);

    // A request to release is about to be made, with a reason that no other request has.
    void asking(const std::string& reason) { reasons_.insert(reason); }
    void applied(core::NodeId node, const core::ReleaseAsked& asked);
    void told(core::NodeId node, const core::Contended& contended);
    // A step of that node has ended, and this is its machine.
    void after_step(core::NodeId node, const core::LockMachine& machine);

private:
    struct Watched {
        core::NodeId node;
        std::vector<std::string> names;
        bool was_told = false;          // that a request waits
        std::set<std::string> to_hear;  // the reasons of requests that were not reported yet
    };

    void report(core::NodeId node, core::OperationId hold, const std::string& what);

    Violations& violations_;
    Tally& tally_;
    std::map<core::OperationId, Watched> watched_;
    std::set<core::OperationId> released_;
    std::set<std::string> reasons_;
};

}  // namespace mortise::sim
