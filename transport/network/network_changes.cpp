// Changes of the peers while the network runs.
#include <algorithm>
#include <utility>

#include <asio/post.hpp>

#include "transport/network/network_impl.hpp"

namespace mortise::transport {
namespace {

// A link is lost after about two election timeouts without an answer. Without messages it pings:
// twice in each on the lane for replication, and seldom on the other one, since the first already
// shows whether the peer is there.
PeerLinkOptions link_options(const NetworkOptions& options, const PeerAddress& peer, Lane lane,
                             std::uint64_t number) {
    PeerLinkOptions link;
    link.peer = peer;
    link.lane = lane;
    link.hello_timeout = options.limits.hello_timeout;
    link.silence_max = 2 * options.election_timeout;
    link.ping_every =
        lane == Lane::replication ? options.election_timeout / 2 : 2 * options.election_timeout;
    link.calls_in_flight_max = options.limits.calls_in_flight_max;
    link.outbox.bytes_max = options.limits.outbox_bytes_max;
    link.prng = core::Prng{options.seed ^ (number * 0x9e3779b97f4a7c15U)};
    return link;
}

}  // namespace

// The call may come from within an event of a link or a connection, so the change happens later.
void PeerNetwork::Impl::set_peers(std::vector<PeerAddress> peers) {
    asio::post(loop_.io(), [self = weak_from_this(), peers = std::move(peers)] {
        const auto alive = self.lock();
        if (alive && !alive->stopped_) alive->change_peers(peers);
    });
}

void PeerNetwork::Impl::disconnect(core::NodeId peer) {
    asio::post(loop_.io(), [self = weak_from_this(), peer] {
        const auto alive = self.lock();
        if (!alive || alive->stopped_) return;
        alive->loop_.run([&] { alive->apply(alive->connections_.drop(peer)); });
    });
}

void PeerNetwork::Impl::change_peers(const std::vector<PeerAddress>& peers) {
    const auto find = [](auto& among, const PeerAddress& peer) {
        return std::ranges::find(among, peer.id, &PeerAddress::id);
    };
    for (const auto& old : std::vector{known_}) {
        if (find(peers, old) == peers.end()) drop_peer(old.id);
    }
    for (const auto& peer : peers) {
        if (stopped_) return;  // an event about a removed peer stopped it
        if (const auto known = find(known_, peer); known != known_.end()) {
            change_peer(*known, peer);
            continue;
        }
        const auto first_new = links_.size();
        add_peer(peer);
        for (auto i = first_new; i < links_.size(); ++i)
            links_[i]->start();
    }
}

void PeerNetwork::Impl::change_peer(PeerAddress& known, const PeerAddress& peer) {
    auto former = std::exchange(known, peer);
    if (former.is_member && !peer.is_member) drop_clients_of(peer.id);
    former.is_member = peer.is_member;
    if (former != peer) change_addresses(peer);
}

// An existing connection leads to that node, whatever its address is now.
void PeerNetwork::Impl::change_addresses(const PeerAddress& peer) {
    for (const auto& link : links_) {
        if (link->peer() != peer.id) continue;
        link->set_addresses(peer);
        link->peer_seen();
    }
}

void PeerNetwork::Impl::add_peer(const PeerAddress& peer) {
    if (peer.id == options_.self) return;
    known_.push_back(peer);
    for (const auto lane : {Lane::replication, Lane::forwarding}) {
        links_.push_back(std::make_unique<PeerLink>(
            link_options(options_, peer, lane, ++newest_link_), *this, counters_));
    }
}

void PeerNetwork::Impl::drop_peer(core::NodeId peer) {
    std::erase_if(known_, [&](const PeerAddress& each) { return each.id == peer; });
    const auto is_of_peer = [&](const auto& link) { return link->peer() == peer; };
    drop_clients_of(peer);
    loop_.run([&] {
        apply(connections_.drop(peer));
        for (const auto& link : links_) {
            if (is_of_peer(link)) link->stop();
        }
    });
    // None of their functions is on the stack any more, and their connections are destroyed.
    for (const auto& link : links_) {
        if (is_of_peer(link)) add_counters(*link, counters_);
    }
    std::erase_if(links_, is_of_peer);
}

// Operators may use the certificate of a node as well.
void PeerNetwork::Impl::drop_clients_of(core::NodeId peer) {
    std::vector<std::shared_ptr<InboundConnection>> clients;
    for (const auto& [inbound, owned] : inbound_) {
        const auto* const identity = inbound->identity();
        if (inbound->is_client() && identity != nullptr && identity->node == peer)
            clients.push_back(owned);
    }
    loop_.run([&] {
        for (const auto& client : clients)
            left(*client);
    });
}

}  // namespace mortise::transport
