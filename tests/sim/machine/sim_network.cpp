// Links and the messages on them; connections.cpp has the rest.
#include "tests/sim/machine/sim_network.hpp"

#include <algorithm>
#include <utility>

namespace mortise::sim {

SimNetwork::SimNetwork(std::size_t nodes, EventHeap& heap, Tally& tally, NetworkHost& host,
                       std::uint64_t seed)
    : nodes_{nodes},
      heap_{heap},
      tally_{tally},
      host_{host},
      prng_{seed},
      links_(nodes * nodes),
      ends_(nodes * nodes),
      pairs_(nodes * nodes) {}

SimTime SimNetwork::draw_delay(core::NodeId from, core::NodeId to) {
    auto delay = prng_.between(options_.delay_min, options_.delay_max);
    if (happens(options_.overtake_ppm)) {
        tally_.fault(Fault::message_overtaken);
        delay += prng_.between(0, options_.overtake_max);
    }
    return delay + link(from, to).extra_delay;
}

void SimNetwork::send(core::NodeId from, core::NodeId to, core::PeerMessage message) {
    ++messages_sent_;
    if (!end(from, to).up) {
        tally_.probe("message without a connection");
        return;
    }
    if (!link(from, to).open || link(from, to).swallows) return;
    if (happens(options_.loss_ppm)) {
        tally_.fault(Fault::message_lost);
        return;
    }
    const auto generation = end(from, to).generation;
    const auto start = host_.start_of(from);
    if (happens(options_.repeat_ppm)) {
        tally_.fault(Fault::message_repeated);
        const auto later = draw_delay(from, to) + prng_.between(0, options_.overtake_max);
        put_on_the_way({from, to, generation, message, start}, later);
    }
    const auto delay = draw_delay(from, to);
    put_on_the_way({from, to, generation, std::move(message), start}, delay);
}

void SimNetwork::put_on_the_way(Travelling travelling, SimTime delay) {
    auto arrival = heap_.now() + delay;
    // No message precedes the hello on a connection.
    const auto& receiver = end(travelling.to, travelling.from);
    if (receiver.generation == travelling.generation) {
        arrival = std::max(arrival, receiver.up_at + 1);
    }
    heap_.at(arrival, [this, travelling = std::move(travelling)]() mutable { arrive(travelling); });
}

void SimNetwork::arrive(Travelling& travelling) {
    const auto [from, to] = std::pair{travelling.from, travelling.to};
    if (!link(from, to).open) return;
    if (!host_.is_running(to)) {
        tally_.probe("message for a dead node");
        return;
    }
    const auto& receiver = end(to, from);
    const bool current = receiver.up && receiver.generation == travelling.generation;
    if (!current) {
        if (!options_.late_messages) return;
        tally_.fault(Fault::message_late);
    }
    host_.deliver(to, core::Received{from, std::move(travelling.message), travelling.start});
}

void SimNetwork::cut(core::NodeId from, core::NodeId to, bool silent) {
    link(from, to).open = false;
    if (silent) tally_.fault(Fault::cut_silent);
    const auto low = silent ? options_.silence_max / 2 : 0;
    const auto high = silent ? options_.silence_max : options_.connect_max;
    break_later(from, to, prng_.between(low, high), silent);
    break_later(to, from, prng_.between(low, high), silent);
}

void SimNetwork::heal(core::NodeId from, core::NodeId to) {
    link(from, to) = {};
    connect_what_can_be();
}

void SimNetwork::heal_all() {
    for (auto& each : links_)
        each = {};
    connect_what_can_be();
}

void SimNetwork::slow_down(core::NodeId from, core::NodeId to, SimTime extra) {
    link(from, to).extra_delay = extra;
}

void SimNetwork::swallow(core::NodeId from, core::NodeId to, bool on) {
    link(from, to).swallows = on;
}

void SimNetwork::reset(core::NodeId a, core::NodeId b) {
    break_later(a, b, prng_.between(0, options_.connect_max), false);
    break_later(b, a, prng_.between(0, options_.connect_max), false);
}

}  // namespace mortise::sim
