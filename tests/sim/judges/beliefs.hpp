// What programs believe to hold: no two of them believe in conflicting holds of a name at the same
// true time (P3), while the clocks keep their bounds.
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
        // What the boot clock of a node shows now.
        std::function<core::Instant(core::NodeId)> boot;
        // Has this holder's clock been slow beyond the bound, or a majority's fast? Then nothing is
        // promised.
        std::function<bool(core::NodeId)> out_of_bounds;
    };
    Beliefs(Violations& violations, Tally& tally, Clocks clocks)
        : violations_{violations}, tally_{tally}, clocks_{std::move(clocks)} {}

    // A hold begins, of one name or several; over at that time of the boot clock, if not before.
    void begins(core::NodeId node, core::OperationId hold, std::vector<core::NamedMode> names,
                core::Instant ends);
    // Of one name: it is believed to be in that mode from now on. Nothing when it is believed no
    // more.
    void changes(core::OperationId hold, core::LockMode mode);
    // Empty when it is not believed, or of several names.
    [[nodiscard]] std::optional<core::LockMode> mode_of(core::OperationId hold) const;
    // False when it was over already.
    bool ends(core::OperationId hold) { return believed_.erase(hold) != 0; }
    // Of one of its names nothing is to be said any more.
    void ends(core::OperationId hold, const std::string& name);
    void node_lost(core::NodeId node);
    void lease_changed(core::NodeId node, const core::LeaseChanged& lease);

private:
    struct Believed {
        core::NodeId node;
        std::vector<core::NamedMode> names;
        core::Instant ends;
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
