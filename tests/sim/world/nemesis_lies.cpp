// A member that says what is wrong, in its own name: once to one of the others, or to all of them
// for a while (docs/decisions/0064). Otherwise it does its duty.
#include "tests/sim/world/nemesis.hpp"
#include "tests/support/stopping_lies.hpp"

namespace mortise::sim {

void Nemesis::lie() {
    const core::NodeId liar{world_.swarm.liar};
    world_.tally.fault(Fault::member_lies);
    world_.timeline.say(liar, "lies");
    const auto to = draw_node();
    if (prng_.one_in(2)) return lie(to);
    const auto ends = world_.heap.now() + draw_length();
    for (auto at = world_.heap.now(); at < ends; at += world_.swarm.heartbeat.count()) {
        world_.heap.at(at, [this] {
            for (const auto peer : cluster_.ids())
                if (!stopped_) lie(peer);
        });
    }
}

void Nemesis::lie(core::NodeId to) {
    const core::NodeId liar{world_.swarm.liar};
    if (to == liar || !cluster_.can_answer(liar) || !cluster_.is_running(to)) return;
    const auto& one = core::test::lies[prng_.below(core::test::lies.size())];
    const auto& victim = cluster_.at(to).driver().core();
    // Nothing is promised if one of two members lies.
    if (!one.only_stops || victim.raft().configuration().voters.size() < 3) return;
    for (auto& message : one.to(victim)) {
        // That keeps a member out of elections until the cluster has accepted its run.
        const bool is_doubt = std::holds_alternative<core::Superseded>(message);
        if (is_doubt && !victim.agent().open_session()) continue;
        cluster_.carry(liar, to, std::move(message));
    }
}

}  // namespace mortise::sim
