// Programs that lose their holds: each owner is notified on a thread of its own after some time,
// and then the node is informed (S6).
#include "tests/sim/load/lock_workload.hpp"

namespace mortise::sim {

// A hold that was just released needs no notification.
void LockWorkload::lost(core::NodeId node, const core::HoldLost& lost) {
    const bool had = holds_.erase(lost.hold) != 0;
    history_.lost(lost);
    contentions_.lost(lost.hold);
    closings_.lost(node, lost);
    cached_.lost(node, lost.hold);
    if (outside_) outside_->lost(lost);
    const bool closes = lost.reason == core::HoldLost::Reason::node_stopped;
    if (!had || (closes && !listened_to_.contains(lost.hold))) return;
    tellings_.lost(node, lost.hold, closes);
    tell_sometimes(node, lost.hold);
}

// Mostly at once; some callbacks hang.
void LockWorkload::tell_sometimes(core::NodeId node, core::OperationId hold) {
    if (prng_.one_in(8)) return;
    const auto delay = prng_.between(0, (prng_.one_in(4) ? 150 : 20) * sim_millisecond);
    world_.heap.after(delay, [this, node, hold] {
        if (!cluster_.can_answer(node)) return;
        tellings_.told(hold);
        call(node, core::ToldCall{{}, hold});
    });
}

}  // namespace mortise::sim
