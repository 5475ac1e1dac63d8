// Programs that write values under their holds (S36), and some that break the holds of others, or
// request their release (S24).
#include "core/locks/limits.hpp"
#include "tests/sim/load/lock_workload.hpp"

namespace mortise::sim {

void LockWorkload::write_sometimes(core::NodeId node, core::OperationId hold, SimTime within) {
    const auto chance = world_.swarm.workload.write_percent;
    if (!core_.empty() || chance == 0 || prng_.below(100) >= chance) return;
    world_.heap.after(prng_.between(0, within), [this, node, hold] { write(node, hold); });
}

// Sometimes under a hold that was just released, or lost.
void LockWorkload::write(core::NodeId node, core::OperationId hold) {
    const auto* given = history_.book().find(hold);
    if (given == nullptr || !core_.empty() || !can_call(node)) return;
    if (!holds_.contains(hold) && (cached_.is_unused(node, hold) || !prng_.one_in(8))) return;
    cached_.make_ordinary(node, hold);
    if (!can_call(node)) return;  // it died of that
    const auto& name = given->names[prng_.below(given->names.size())].name;
    call_write(node, drawing_.write(hold, name, core::CallTag{++newest_tag_}));
    write_sometimes(node, hold, 2 * world_.swarm.election_timeout.count());
}

void LockWorkload::break_sometimes(core::OperationId hold, SimTime within) {
    const auto chance = world_.swarm.workload.break_percent;
    if (!core_.empty() || chance == 0 || prng_.below(100) >= chance) return;
    world_.heap.after(prng_.between(0, within), [this, hold] { take_away(hold); });
}

// A break may come from any node, also from the holder's, and is for one name.
void LockWorkload::take_away(core::OperationId hold) {
    const auto* given = history_.book().find(hold);
    const auto node = cluster_.ids()[static_cast<std::size_t>(prng_.below(cluster_.size()))];
    if (given == nullptr || !core_.empty() || !can_call(node)) return;
    const auto& one = given->names[prng_.below(given->names.size())];
    const core::CallTag tag{++newest_tag_};
    if (prng_.one_in(3)) {
        auto ask = CallDrawing::ask_for(one.name, tag);
        contentions_.asking(std::get<core::AskRelease>(ask.body).reason);
        call_write(node, std::move(ask));
    } else if (prng_.one_in(6)) {
        call_write(node, CallDrawing::evict(hold.session, tag));
    } else {
        call_write(node, drawing_.take_away(one.name, one.token, tag));
    }
    const bool closes = world_.swarm.workload.close_pace != 0 && prng_.one_in(2);
    if (closes && holds_.contains(hold)) {
        const auto within = prng_.between(0, world_.swarm.election_timeout.count() / 4);
        world_.heap.after(within, [this, holder = holds_.at(hold).node] { close(holder); });
    }
    // Some operators repeat a break.
    if (prng_.one_in(4)) break_sometimes(hold, world_.swarm.election_timeout.count());
}

void LockWorkload::call_write(core::NodeId node, core::WriteCall write) {
    waiting_.emplace(node, write.tag);
    history_.asked(node, write);
    const auto tag = write.tag;
    call(node, std::move(write));
    cancel_sometimes(node, tag);
}

}  // namespace mortise::sim
