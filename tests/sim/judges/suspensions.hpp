// Holds and the end of their lease (S6): what is lost with it and what is only suspended, whether
// their owners are told, and whether a confirmation says what it means.
//
// Whether a suspended hold is believed is the lease's business, as for any other (beliefs).
#pragma once

#include <functional>
#include <map>
#include <utility>

#include "core/node/effects.hpp"
#include "tests/sim/base/tally.hpp"
#include "tests/sim/base/violations.hpp"

namespace mortise::sim {

class Suspensions {
public:
    // A lease lasts for `trust` from when the renewal was sent that was applied.
    Suspensions(Violations& violations, Tally& tally, core::Nanoseconds trust)
        : violations_{violations}, tally_{tally}, trust_{trust} {}

    void begins(core::NodeId node, core::OperationId hold, bool suspends);
    // It was given back.
    void ends(core::OperationId hold) { held_.erase(hold); }
    // Has the cluster ended its session?
    void lost(const core::HoldLost& lost, bool session_ended);
    void node_lost(core::NodeId node);

    // `boot` is what the boot clock of the node shows now.
    void suspended(core::NodeId node, core::OperationId hold, core::Instant boot);
    void lease_changed(core::NodeId node, const core::LeaseChanged& lease, core::Instant boot);

    // Everything up to `floor` was answered before.
    void asked(core::NodeId node, const core::ConfirmCall& call, core::Instant boot,
               core::LogIndex floor);
    // Where the log ends a hold; not set: nowhere.
    using EndedAt = std::function<core::LogIndex(core::OperationId)>;
    // Nothing unless it is the answer to a confirm.
    void answered(core::NodeId node, const core::CallAnswer& answer, core::Instant boot,
                  const EndedAt& ended_at);

private:
    struct Held {
        core::NodeId node;
        bool suspends = false;
        bool is_suspended = false;  // and its owner was told
    };
    struct Asked {
        core::OperationId hold;
        core::Instant at;  // of the boot clock
        core::LogIndex floor;
        bool was_suspended = false;
    };

    [[nodiscard]] core::Instant valid_until(core::SessionId session) const;
    void confirmed(core::NodeId node, const Asked& asked, core::Instant boot, core::LogIndex ended);
    void refused(core::NodeId node, const Asked& asked, core::CallError error);
    void held_again(core::OperationId hold, Held& held);
    void report(core::NodeId node, core::OperationId hold, const char* what);

    Violations& violations_;
    Tally& tally_;
    core::Nanoseconds trust_;
    std::map<core::OperationId, Held> held_;
    std::map<core::SessionId, core::Instant> valid_until_;
    std::map<std::pair<core::NodeId, core::CallTag>, Asked> confirms_;
};

}  // namespace mortise::sim
