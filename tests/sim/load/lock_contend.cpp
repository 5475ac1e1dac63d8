// Programs that want contention notifications, and some that request a release (S24).
#include "tests/sim/load/lock_workload.hpp"

namespace mortise::sim {

void LockWorkload::watch_sometimes(core::NodeId node, core::OperationId hold) {
    if (!core_.empty() || world_.swarm.workload.break_percent == 0 || prng_.one_in(2)) return;
    const auto within = prng_.between(0, world_.swarm.election_timeout.count() / 4);
    world_.heap.after(within, [this, node, hold] { watch(node, hold); });
}

void LockWorkload::watch(core::NodeId node, core::OperationId hold) {
    if (!holds_.contains(hold) || !can_call(node)) return;
    if (cluster_.at(node).is_catching_up()) return;  // it would be notified later
    std::vector<std::string> names;
    for (const auto& one : history_.book().find(hold)->names)
        names.push_back(one.name);
    contentions_.watched(node, hold, std::move(names));
    call(node, core::WatchCall{{}, hold});
}

// Some holders release their hold.
void LockWorkload::contended(core::NodeId node, const core::Contended& contended) {
    contentions_.told(node, contended);
    if (cached_.recalled(node, contended.hold)) return;
    if (!prng_.one_in(3)) return;
    const auto within = prng_.between(0, world_.swarm.election_timeout.count() / 4);
    world_.heap.after(within, [this, node, hold = contended.hold] { release(node, hold); });
}

}  // namespace mortise::sim
