// Which holds the programs regard as valid: no two of them may regard conflicting holds of a name
// as valid at the same true time (P3), while the clocks keep their bounds.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/locks/command.hpp"
#include "core/node/effects.hpp"
#include "tests/sim/base/tally.hpp"
#include "tests/sim/base/violations.hpp"

namespace mortise::sim {

class Beliefs {
public:
    struct Clocks {
        // The present boot clock of a node.
        std::function<core::Instant(core::NodeId)> boot;
        // Whether this holder's clock was slow beyond the bound, or a majority's fast: then nothing
        // is promised.
        std::function<bool(core::NodeId)> out_of_bounds;
    };
    Beliefs(Violations& violations, Tally& tally, Clocks clocks)
        : violations_{violations}, tally_{tally}, clocks_{std::move(clocks)} {}

    // A hold of one name or several becomes valid; it ends at that time of the boot clock, if not
    // before. `slots` are those of a semaphore (S15): only holds with the same slot conflict.
    void begins(core::NodeId node, core::OperationId hold, std::vector<core::NamedMode> names,
                core::Instant ends, core::Slots slots = {});
    // A hold of one name has another mode from now on. Does nothing if the hold is not valid any
    // more.
    void changes(core::OperationId hold, core::LockMode mode);
    // Empty if the hold is not valid, or has several names.
    [[nodiscard]] std::optional<core::LockMode> mode_of(core::OperationId hold) const;
    // False if it had ended before.
    bool ends(core::OperationId hold) { return believed_.erase(hold) != 0; }
    // This name of the hold is not judged any more.
    void ends(core::OperationId hold, const std::string& name);
    void node_lost(core::NodeId node);
    void lease_changed(core::NodeId node, const core::LeaseChanged& lease);

private:
    struct Believed {
        core::NodeId node;
        std::vector<core::NamedMode> names;
        core::Instant ends;
        core::Slots slots;
    };

    [[nodiscard]] bool is_believed(core::OperationId hold, const Believed& believed) const;
    void check(core::OperationId hold);

    Violations& violations_;
    Tally& tally_;
    Clocks clocks_;
    std::map<core::OperationId, Believed> believed_;
    std::map<core::SessionId, core::Instant> valid_until_;
};

}  // namespace mortise::sim
