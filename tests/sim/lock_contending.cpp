// Programs that want to hear who wants what they hold, and some that ask for it (S24).
#include "tests/sim/lock_workload.hpp"

namespace mortise::sim {

void LockWorkload::watch_sometimes(core::NodeId node, core::OperationId hold) {
    const auto* given = history_.book().find(hold);
    const bool may_be = world_.swarm.workload.break_percent != 0 && given != nullptr;
    if (!may_be || prng_.one_in(2) || cluster_.at(node).is_catching_up()) return;
    std::vector<std::string> names;
    for (const auto& one : given->names)
        names.push_back(one.name);
    contentions_.watched(node, hold, std::move(names));
    call(node, core::WatchCall{{}, hold});
}

// Some yield.
void LockWorkload::contended(core::NodeId node, const core::Contended& contended) {
    contentions_.told(node, contended);
    if (!prng_.one_in(3)) return;
    const auto within = prng_.between(0, world_.swarm.election_timeout.count() / 4);
    world_.heap.after(within, [this, node, hold = contended.hold] { release(node, hold); });
}

}  // namespace mortise::sim
