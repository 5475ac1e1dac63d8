// The judge of the end of a lease (S6): which holds are lost with it and which are only suspended,
// whether their owners are notified, and whether a confirmation is true.
//
// Whether a suspended hold may be used depends on the lease, as for any other hold (beliefs).
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
    // `trust` is how long a lease lasts from when the applied renewal was sent.
    Suspensions(Violations& violations, Tally& tally, core::Nanoseconds trust)
        : violations_{violations}, tally_{tally}, trust_{trust} {}

    void begins(core::NodeId node, core::OperationId hold, bool suspends);
    // The hold was released.
    void ends(core::OperationId hold) { held_.erase(hold); }
    // `session_ended`: the cluster has ended its session.
    void lost(const core::HoldLost& lost, bool session_ended);
    void node_lost(core::NodeId node);

    // `boot` is the present boot clock of the node.
    void suspended(core::NodeId node, core::OperationId hold, core::Instant boot);
    void lease_changed(core::NodeId node, const core::LeaseChanged& lease, core::Instant boot);

    // Everything up to `floor` was answered before.
    void asked(core::NodeId node, const core::ConfirmCall& call, core::Instant boot,
               core::LogIndex floor);
    // The index at which the log ends a hold; not set: none.
    using EndedAt = std::function<core::LogIndex(core::OperationId)>;
    // Has no effect unless it is the answer to a confirm.
    void answered(core::NodeId node, const core::CallAnswer& answer, core::Instant boot,
                  const EndedAt& ended_at);

private:
    struct Held {
        core::NodeId node;
        bool suspends = false;
        bool is_suspended = false;  // and its owner was notified
    };
    struct Asked {
        core::OperationId hold;
        core::Instant at;  // on the boot clock
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
