// How connections of the simulated network begin and end.
#include <algorithm>

#include "tests/sim/machine/sim_network.hpp"

namespace mortise::sim {

void SimNetwork::node_stopped(core::NodeId node) {
    for (std::uint64_t raw = 1; raw <= nodes_; ++raw) {
        const core::NodeId peer{raw};
        if (peer == node) continue;
        end(node, peer) = {};
        // A process that dies resets its connections, unless the reset is lost.
        const bool told = is_open(node, peer) && !prng_.one_in(8);
        const auto wait = told ? options_.connect_max : options_.silence_max;
        break_later(peer, node, prng_.between(0, wait), false);
    }
}

bool SimNetwork::can_connect(core::NodeId a, core::NodeId b) const {
    return host_.can_answer(a) && host_.can_answer(b) && is_open(a, b) && is_open(b, a) &&
           host_.may_connect(a, b);
}

// Or the connection is coming up: both ends will be informed.
bool SimNetwork::is_whole(core::NodeId a, core::NodeId b) const {
    const auto generation = end(a, b).generation;
    return generation != 0 && generation == end(b, a).generation;
}

void SimNetwork::connect_what_can_be() {
    for (std::uint64_t first = 1; first <= nodes_; ++first) {
        for (auto second = first + 1; second <= nodes_; ++second) {
            const core::NodeId a{first};
            const core::NodeId b{second};
            if (!can_connect(a, b) || is_whole(a, b) || pair(a, b).connecting) continue;
            pair(a, b).connecting = true;
            heap_.after(prng_.between(0, options_.connect_max), [this, a, b] { connect(a, b); });
        }
    }
}

void SimNetwork::connect(core::NodeId a, core::NodeId b) {
    pair(a, b).connecting = false;
    if (!can_connect(a, b) || is_whole(a, b)) return;
    const bool noticed = !end(a, b).up && !end(b, a).up;
    if (!noticed) tally_.probe("reconnected before the break was noticed");
    ++pair(a, b).generation;
    // The called side reads the caller's hello first, and answers with its own.
    const bool a_calls = prng_.one_in(2);
    const auto answer = prng_.between(0, options_.delay_max);
    bring_up(a, b, a_calls ? answer : 0);
    bring_up(b, a, a_calls ? 0 : answer);
}

void SimNetwork::bring_up(core::NodeId node, core::NodeId peer, SimTime delay) {
    auto& mine = end(node, peer);
    const auto generation = pair(node, peer).generation;
    mine.up = false;
    mine.generation = generation;
    mine.up_at = heap_.now() + delay;
    heap_.after(delay, [this, node, peer, generation, hello = host_.hello(peer)] {
        auto& now = end(node, peer);
        if (now.generation != generation) return;
        now.up = true;
        host_.deliver(node, core::PeerUp{hello});
    });
}

void SimNetwork::break_later(core::NodeId node, core::NodeId peer, SimTime delay,
                             bool if_still_cut) {
    const auto generation = end(node, peer).generation;
    heap_.after(delay, [this, node, peer, generation, if_still_cut] {
        auto& mine = end(node, peer);
        // A newer connection has replaced it: nothing is broken.
        if (generation == 0 || mine.generation != generation) return;
        if (if_still_cut && is_open(node, peer) && is_open(peer, node)) return;
        const bool was_up = mine.up;
        mine = {};
        if (was_up) host_.deliver(node, core::PeerDown{peer});
        connect_what_can_be();
    });
}

}  // namespace mortise::sim
