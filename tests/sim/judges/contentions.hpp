// What holders are told of those who want what they have (S24): only of what they hold, of
// everybody who asks for it, and at once when somebody begins to wait.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/node/effects.hpp"
#include "tests/sim/base/tally.hpp"
#include "tests/sim/base/violations.hpp"

namespace mortise::sim {

class Contentions {
public:
    Contentions(Violations& violations, Tally& tally) : violations_{violations}, tally_{tally} {}

    // Its owner wants to hear from now on.
    void watched(core::NodeId node, core::OperationId hold, std::vector<std::string> names);
    // Its owner has let go of it: what is on its way to him does not matter.
    void released(core::OperationId hold);
    void lost(core::OperationId hold) { watched_.erase(hold); }
    void node_lost(core::NodeId node);

    // Somebody is about to ask for something, with words that nobody else uses.
    void asking(const std::string& reason) { reasons_.insert(reason); }
    void applied(core::NodeId node, const core::ReleaseAsked& asked);
    void told(core::NodeId node, const core::Contended& contended);
    // A step of that node is over, and this is its machine.
    void after_step(core::NodeId node, const core::LockMachine& machine);

private:
    struct Watched {
        core::NodeId node;
        std::vector<std::string> names;
        bool was_told = false;          // that somebody waits
        std::set<std::string> to_hear;  // the reasons of those who asked
    };

    void report(core::NodeId node, core::OperationId hold, const std::string& what);

    Violations& violations_;
    Tally& tally_;
    std::map<core::OperationId, Watched> watched_;
    std::set<core::OperationId> released_;
    std::set<std::string> reasons_;
};

}  // namespace mortise::sim
