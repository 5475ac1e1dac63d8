// The network between the nodes. Each ordered pair has a link, open or cut, with a delay. Each
// unordered pair may have a connection; both ends receive the other's hello, and each learns of the
// end on its own: at once, later, or after a silence. Messages travel on connections only, but
// those of an old connection may arrive late.
#pragma once

#include <vector>

#include "core/base/prng.hpp"
#include "embed/runtime/driver.hpp"
#include "tests/sim/base/event_heap.hpp"
#include "tests/sim/base/swarm.hpp"
#include "tests/sim/base/tally.hpp"

namespace mortise::sim {

// The owner of the nodes.
class NetworkHost {
public:
    virtual ~NetworkHost() = default;
    [[nodiscard]] virtual bool is_running(core::NodeId node) const = 0;
    // The node runs, and is neither paused nor suspended, so it can say hello.
    [[nodiscard]] virtual bool can_answer(core::NodeId node) const = 0;
    [[nodiscard]] virtual core::Hello hello(core::NodeId node) const = 0;
    // Of its present directory; requires that it runs.
    [[nodiscard]] virtual core::Generation start_of(core::NodeId node) const {
        return hello(node).generation;
    }
    // Whether a connection may come up between them.
    [[nodiscard]] virtual bool may_connect(core::NodeId /*a*/, core::NodeId /*b*/) const {
        return true;
    }
    virtual void deliver(core::NodeId node, core::Event event) = 0;
};

class SimNetwork {
public:
    // Nodes are 1 to `nodes`. References outlive the network.
    SimNetwork(std::size_t nodes, EventHeap& heap, Tally& tally, NetworkHost& host,
               std::uint64_t seed);

    void configure(const NetworkOptions& options) { options_ = options; }

    void send(core::NodeId from, core::NodeId to, core::PeerMessage message);

    // To be called whenever a node can answer again.
    void connect_what_can_be();
    // Its ends of all connections are gone; the others learn of it soon.
    void node_stopped(core::NodeId node);
    // No message passes from one to the other any more. If silent, neither is informed for a while.
    void cut(core::NodeId from, core::NodeId to, bool silent);
    void heal(core::NodeId from, core::NodeId to);
    void heal_all();
    void slow_down(core::NodeId from, core::NodeId to, SimTime extra);
    // Messages from one to the other are lost and neither notices, as when a buffer fills.
    void swallow(core::NodeId from, core::NodeId to, bool on);
    // The connection breaks, and may be made again at once.
    void reset(core::NodeId a, core::NodeId b);

    [[nodiscard]] bool is_open(core::NodeId from, core::NodeId to) const {
        return link(from, to).open;
    }
    // As `node` sees it.
    [[nodiscard]] bool is_connected(core::NodeId node, core::NodeId peer) const {
        return end(node, peer).up;
    }
    [[nodiscard]] std::uint64_t messages_sent() const { return messages_sent_; }

private:
    struct Link {
        bool open = true;
        bool swallows = false;
        SimTime extra_delay = 0;
    };
    struct End {  // one end of a connection
        bool up = false;
        std::uint64_t generation = 0;  // of the present or last connection
        SimTime up_at = 0;
    };
    struct Pair {
        std::uint64_t generation = 0;
        bool connecting = false;
    };

    // connections.cpp
    void connect(core::NodeId a, core::NodeId b);
    void bring_up(core::NodeId node, core::NodeId peer, SimTime delay);
    void break_later(core::NodeId node, core::NodeId peer, SimTime delay, bool if_still_cut);
    [[nodiscard]] bool can_connect(core::NodeId a, core::NodeId b) const;
    [[nodiscard]] bool is_whole(core::NodeId a, core::NodeId b) const;

    struct Travelling {
        core::NodeId from;
        core::NodeId to;
        std::uint64_t generation = 0;
        core::PeerMessage message;
        core::Generation start;  // of the sender
    };
    void put_on_the_way(Travelling travelling, SimTime delay);
    void arrive(Travelling& travelling);
    [[nodiscard]] SimTime draw_delay(core::NodeId from, core::NodeId to);
    [[nodiscard]] bool happens(std::uint64_t ppm) {
        return ppm != 0 && prng_.below(1'000'000) < ppm;
    }

    [[nodiscard]] std::size_t place(core::NodeId a, core::NodeId b) const {
        return static_cast<std::size_t>((a.raw() - 1) * nodes_ + b.raw() - 1);
    }
    [[nodiscard]] Link& link(core::NodeId from, core::NodeId to) { return links_[place(from, to)]; }
    [[nodiscard]] const Link& link(core::NodeId from, core::NodeId to) const {
        return links_[place(from, to)];
    }
    [[nodiscard]] End& end(core::NodeId node, core::NodeId peer) {
        return ends_[place(node, peer)];
    }
    [[nodiscard]] const End& end(core::NodeId node, core::NodeId peer) const {
        return ends_[place(node, peer)];
    }
    [[nodiscard]] Pair& pair(core::NodeId a, core::NodeId b) {
        return pairs_[place(std::min(a, b), std::max(a, b))];
    }

    std::size_t nodes_;
    EventHeap& heap_;
    Tally& tally_;
    NetworkHost& host_;
    core::Prng prng_;
    NetworkOptions options_;
    std::vector<Link> links_;
    std::vector<End> ends_;
    std::vector<Pair> pairs_;
    std::uint64_t messages_sent_ = 0;
};

}  // namespace mortise::sim
