// The latest time at which each call must have been answered (S48), by the steady clock of its
// node.
#pragma once

#include <map>
#include <set>
#include <utility>

#include "core/node/effects.hpp"
#include "tests/sim/base/violations.hpp"

namespace mortise::sim {

class CallDeadlines {
public:
    // `call_timeout` is for calls without a deadline of their own.
    CallDeadlines(core::Nanoseconds call_timeout, Violations& violations)
        : call_timeout_{call_timeout}, violations_{violations} {}

    void asked(core::NodeId node, const core::Call& call, core::Instant now);
    void answered(core::NodeId node, core::CallTag tag);
    void node_lost(core::NodeId node);
    // A step of the node has ended, and it wants to be called again at `next`: at once, or when the
    // first of its calls is due.
    void after_step(core::NodeId node, core::Instant now, core::Instant next);

private:
    using Due = std::pair<core::Instant, core::CallTag>;
    struct Open {
        std::set<Due> by_time;
        std::map<core::CallTag, core::Instant> by_tag;
    };

    // With never() the call may wait for the lock without limit.
    [[nodiscard]] core::Instant due(const core::Call& call, core::Instant now) const;

    core::Nanoseconds call_timeout_;
    Violations& violations_;
    std::map<core::NodeId, Open> open_;
};

}  // namespace mortise::sim
