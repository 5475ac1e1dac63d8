// Counts and reports what becomes of the entries of the log: how many were applied, how long they
// took, and which locks they broke.
#pragma once

#include <functional>

#include "core/access/identity.hpp"
#include "core/node/effects.hpp"
#include "embed/host/log_sink.hpp"
#include "embed/runtime/commit_times.hpp"
#include "embed/threads/event_hub.hpp"
#include <mortise/metrics.hpp>

namespace mortise::detail {

// For one run of a node, on its core thread.
class EntryReport {
public:
    // References outlive it.
    struct Parts {
        NodeLog& log;
        EventHub& events;
        Metrics& counters;
        const core::Access& access;  // of this node
        std::function<core::NodeId(core::SessionId)> node_of;
    };
    explicit EntryReport(Parts parts) : parts_{std::move(parts)} {}

    // An earlier run has reported the entries up to `last`.
    void begin_after(core::LogId last) { had_ = last; }
    // A step begins: what it appends and applies is as of `now`, on the steady clock.
    void step_begins(core::Instant now) { now_ = now; }
    // The log has the entries up to `last` now.
    void appended(core::LogIndex last, bool is_leader);
    void applied(const core::Applied& applied);

private:
    void lock_broken(const core::LockBroken& broken);
    void session_evicted(const core::SessionEvicted& evicted);

    // what it uses of the node: set by the constructor
    const Parts parts_;
    // the end of the log when this run began: set by begin_after()
    core::LogId had_;
    // when the present step began: set by step_begins()
    core::Instant now_;
    // the entries that this leader has appended, and when
    CommitTimes commits_;
};

}  // namespace mortise::detail
