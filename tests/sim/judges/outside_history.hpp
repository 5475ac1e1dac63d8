// What the programs saw, as they would tell it themselves: lines for the search of tests/check,
// which knows nothing of logs and leaders. Times are the true time. A lease ends when a boot clock
// says so; a clock within its bounds shows that much of true time at least.
//
// Several names are several calls. The search knows no conversions: of a hold that is to be
// converted it is told that it may be over from then on, and that somebody may have the name.
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
    // The run is over: what is to come now never comes.
    void end();

    [[nodiscard]] const check::Calls& calls() const { return calls_; }

private:
    struct Held {
        core::NodeId node;
        check::Calls said;  // what every line about it has, by name
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
    std::map<core::OperationId, Held> orphans_;  // of processes that died
};

}  // namespace mortise::sim
