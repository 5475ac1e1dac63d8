// The history as the programs saw it: lines for the search of tests/check, which knows nothing
// about logs and leaders. Times are true times. A lease ends by a boot clock; a clock within its
// bounds shows at least that much of true time.
//
// Several names are several calls. The search does not support conversions: a hold that is to be
// converted is reported as possibly over from then on, and the name as possibly held by others.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "core/node/effects.hpp"
#include "tests/check/call.hpp"
#include "tests/sim/base/event_heap.hpp"

namespace mortise::sim {

class OutsideHistory {
public:
    explicit OutsideHistory(const EventHeap& heap) : heap_{heap} {}

    void asked(core::NodeId node, const core::AcquireCall& call);
    void asked(core::NodeId node, const core::UpgradeCall& call) { converting(node, call.hold); }
    void asked(core::NodeId node, const core::DowngradeCall& call) { converting(node, call.hold); }
    void releasing(core::NodeId node, core::CallTag tag, core::OperationId hold);
    void answered(core::NodeId node, const core::CallAnswer& answer);
    // Its boot clock shows `boot` now.
    void lease_changed(const core::LeaseChanged& lease, core::Instant boot);
    void lost(const core::HoldLost& lost);
    void node_lost(core::NodeId node);
    void node_started(core::NodeId node);
    // The run has ended: outstanding answers never come.
    void end();

    [[nodiscard]] const check::Calls& calls() const { return calls_; }

private:
    struct Held {
        core::NodeId node;
        check::Calls said;  // the common part of all lines about it, by name
    };
    using Places = std::vector<std::size_t>;

    [[nodiscard]] std::string process(core::NodeId node) const;
    [[nodiscard]] check::Time trusted(core::SessionId session) const;
    std::size_t ask(core::NodeId node, const core::NamedMode& wanted, bool waits);
    void converting(core::NodeId node, core::OperationId hold);
    void granted(const Places& places, core::NodeId node, core::OperationId hold,
                 const std::map<std::string, core::FencingToken>& tokens);
    Held let_go(core::OperationId hold);
    void over(const Held& held, check::Time at);
    std::size_t say(check::Call call);

    const EventHeap& heap_;
    check::Calls calls_;
    std::map<std::pair<core::NodeId, core::CallTag>, Places> open_;
    std::map<core::OperationId, Held> holds_;
    std::map<core::SessionId, check::Time> trusted_;
    std::map<core::NodeId, std::uint64_t> lives_;
    std::map<core::OperationId, Held> orphans_;  // the holds of processes that died
};

}  // namespace mortise::sim
