// The judge of nodes that are closed in an orderly way (S10). From the close on they hold nothing
// and are granted nothing. When they are closed, every call has its answer and their session has
// ended; and their holds were released as by their owners (S23).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/agent/call.hpp"
#include "tests/sim/base/tally.hpp"
#include "tests/sim/base/violations.hpp"
#include "tests/sim/judges/log_book.hpp"

namespace mortise::sim {

class Closings {
public:
    Closings(Violations& violations, Tally& tally) : violations_{violations}, tally_{tally} {}

    // Its session, as last reported.
    void has_session(core::NodeId node, core::SessionId session) { sessions_[node] = session; }
    // This call closes the node, with all these holds.
    void asked(core::NodeId node, core::CallTag tag, const std::set<core::OperationId>& holds);
    void lost(core::NodeId node, const core::HoldLost& lost);
    // The step of that call has ended.
    void after_call(core::NodeId node);
    void ended(core::SessionId session, core::SessionEnd how);
    // `owed` are the calls that are not answered.
    void closed(core::NodeId node, const std::vector<core::CallTag>& owed, const LogBook& book);
    // Any other answer.
    void answered(core::NodeId node, const core::CallAnswer& answer);
    void node_lost(core::NodeId node);

    [[nodiscard]] bool is_closing(core::NodeId node) const { return closings_.contains(node); }
    // True if this call closes the node and it has not died since.
    [[nodiscard]] bool is_closing(core::NodeId node, core::CallTag tag) const;
    [[nodiscard]] bool is_closed(core::NodeId node) const;

private:
    struct Closing {
        core::CallTag tag;
        std::set<core::OperationId> holds;
        // of these holds, those whose loss was not reported yet
        std::set<core::OperationId> to_lose;
        bool is_closed = false;
    };

    void report(core::NodeId node, const std::string& what) {
        violations_.report(node, "closing: " + what);
    }

    Violations& violations_;
    Tally& tally_;
    std::map<core::NodeId, core::SessionId> sessions_;
    std::map<core::NodeId, Closing> closings_;
    std::set<core::SessionId> closed_;
};

}  // namespace mortise::sim
