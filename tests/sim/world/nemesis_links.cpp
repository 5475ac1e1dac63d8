// The faults of the network.
#include <algorithm>

#include "tests/sim/world/nemesis.hpp"

namespace mortise::sim {

void Nemesis::cut_between(core::NodeId a, core::NodeId b) {
    const bool silent = world_.swarm.is_on(Fault::cut_silent) && prng_.one_in(2);
    cluster_.network().cut(a, b, silent);
    cluster_.network().cut(b, a, silent);
}

// Heals all cuts together, when the newest one is over.
void Nemesis::heal_later() {
    world_.heap.after(draw_length(), [this, cut = ++cuts_] {
        if (cut != cuts_ || stopped_) return;
        world_.timeline.say({}, "the network is whole");
        cluster_.network().heal_all();
    });
}

void Nemesis::split() {
    world_.tally.fault(Fault::cut_split);
    std::uint64_t left = 0;
    for (const auto a : cluster_.ids()) {
        if (prng_.one_in(2)) left |= std::uint64_t{1} << a.raw();
    }
    world_.timeline.say({}, "the network is split, one side is {}", left >> 1U);
    const auto is_left = [&](core::NodeId node) { return (left >> node.raw() & 1U) != 0; };
    for (const auto a : cluster_.ids()) {
        for (const auto b : cluster_.ids()) {
            if (a < b && is_left(a) != is_left(b)) cut_between(a, b);
        }
    }
    heal_later();
}

void Nemesis::isolate() {
    isolate(draw_running());
}

void Nemesis::isolate(core::NodeId alone) {
    world_.tally.fault(Fault::cut_isolate);
    world_.timeline.say(alone, "is cut off from everybody");
    for (const auto peer : cluster_.ids()) {
        if (peer != alone) cut_between(alone, peer);
    }
    world_.workload->struck(alone, Fault::cut_isolate);
    heal_later();
}

void Nemesis::one_way() {
    const auto node = draw_running();
    const auto peer = draw_node();
    if (node == peer) return;
    world_.tally.fault(Fault::cut_one_way);
    const bool silent = world_.swarm.is_on(Fault::cut_silent);
    const bool outward = prng_.one_in(2);
    world_.timeline.say(node, outward ? "is not heard by node {}" : "does not hear node {}",
                        peer.raw());
    cluster_.network().cut(outward ? node : peer, outward ? peer : node, silent);
    heal_later();
}

// One node in the middle reaches all others; the halves do not reach each other.
void Nemesis::bridge() {
    if (cluster_.size() < 3) return;
    const auto middle = draw_node();
    world_.tally.fault(Fault::cut_bridge);
    world_.timeline.say(middle, "is a bridge between halves that cannot talk");
    bool left = false;
    std::vector<core::NodeId> halves[2];
    for (const auto node : cluster_.ids()) {
        if (node == middle) continue;
        halves[left ? 1 : 0].push_back(node);
        left = !left;
    }
    for (const auto a : halves[0]) {
        for (const auto b : halves[1])
            cut_between(a, b);
    }
    heal_later();
}

// The node receives, and what it sends is lost; its connections stay.
void Nemesis::silence(core::NodeId node, SimTime length) {
    world_.tally.fault(Fault::cut_mute);
    world_.timeline.say(node, "hears and is not heard");
    for (const auto peer : cluster_.ids()) {
        if (peer != node) cluster_.network().swallow(node, peer, true);
    }
    world_.heap.after(length, [this, node] {
        for (const auto peer : cluster_.ids()) {
            if (peer != node) cluster_.network().swallow(node, peer, false);
        }
    });
}

// A holder learns late what the cluster did with its renewals, and the renewals that it continues
// to send are lost: those that it learns of are not its newest (S3). A leader learns of nothing
// late.
void Nemesis::mute() {
    if (is_on_trial()) return;
    const auto leader = cluster_.leader();
    const auto holder = world_.workload->holder(leader);
    const auto node = holder.is_set() ? holder : draw_node();
    world_.timeline.say(node, "hears late");
    const auto timeout = world_.swarm.election_timeout.count();
    const auto ttl = world_.swarm.session_ttl_ms * sim_millisecond;
    const auto lag = prng_.between(timeout, 3 * timeout);
    const auto length = prng_.between(world_.swarm.lease_trial ? ttl : ttl / 2, 2 * ttl);
    trial_until_ = world_.heap.now() + 4 * lag + length;
    world_.workload->contest(node, 2 * lag + length);
    fall_behind(node, lag);
    world_.heap.after(lag + prng_.between(0, timeout), [this, node, length] {
        if (!stopped_) silence(node, length);
    });
}

// The delay grows slowly: if it grew at once, the node would miss its leader, and without a leader
// it sends no renewals.
void Nemesis::fall_behind(core::NodeId node, SimTime lag) {
    constexpr int pieces = 12;
    for (int piece = 1; piece <= pieces; ++piece) {
        world_.heap.after(lag * piece / pieces, [this, node, by = lag * piece / pieces] {
            if (!stopped_) hear_late(node, by);
        });
    }
    world_.heap.after(4 * lag, [this, node] { hear_late(node, 0); });
}

void Nemesis::hear_late(core::NodeId node, SimTime by) {
    for (const auto peer : cluster_.ids()) {
        if (peer != node) cluster_.network().slow_down(peer, node, by);
    }
}

void Nemesis::slow_link() {
    const auto node = draw_running();
    const auto peer = draw_node();
    if (node == peer) return;
    world_.tally.fault(Fault::link_slow);
    const auto extra = prng_.between(0, world_.swarm.election_timeout.count());
    world_.timeline.say(node, "its link to node {} is slow", peer.raw());
    cluster_.network().slow_down(node, peer, extra);
    world_.heap.after(draw_length(),
                      [this, node, peer] { cluster_.network().slow_down(node, peer, 0); });
}

void Nemesis::reset() {
    const auto node = draw_running();
    const auto peer = draw_node();
    if (node == peer || !cluster_.network().is_connected(node, peer)) return;
    world_.tally.fault(Fault::connection_reset);
    cluster_.network().reset(node, peer);
}

}  // namespace mortise::sim
