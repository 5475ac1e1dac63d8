// Programs whose holds survive the end of their leases: they ask whether they still have them (S6).
#include "tests/sim/load/lock_workload.hpp"

namespace mortise::sim {

void LockWorkload::suspended(core::NodeId node, core::OperationId hold) {
    history_.suspended(node, hold);
    if (prng_.one_in(4)) return;
    confirm_sometimes(node, hold, world_.swarm.election_timeout.count() / 4);
}

// Confirms any hold, in runs with suspended holds.
void LockWorkload::confirm_sometimes(core::NodeId node, core::OperationId hold, SimTime within) {
    const bool may_be = core_.empty() && world_.swarm.workload.suspend_percent != 0;
    if (!may_be || prng_.one_in(3)) return;
    world_.heap.after(prng_.between(0, within), [this, node, hold] { confirm(node, hold); });
}

// Sometimes confirms a hold that was just released, or lost.
void LockWorkload::confirm(core::NodeId node, core::OperationId hold) {
    if (!core_.empty() || !can_call(node)) return;
    if (!holds_.contains(hold) && (cached_.is_unused(node, hold) || !prng_.one_in(8))) return;
    auto confirm = drawing_.confirm(hold, steady(node));
    confirm.tag = core::CallTag{++newest_tag_};
    waiting_.emplace(node, confirm.tag);
    cached_.confirming(confirm.tag, hold);
    history_.asked(node, confirm);
    call(node, confirm);
    confirm_sometimes(node, hold, 4 * world_.swarm.election_timeout.count());
}

}  // namespace mortise::sim
