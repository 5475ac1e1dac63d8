#include "transport/peers/peer_connections.hpp"

namespace mortise::transport {

namespace {

constexpr std::size_t replication_out = 0;
constexpr std::size_t replication_in = 1;

bool is_replication(std::size_t slot) {
    return slot == replication_out || slot == replication_in;
}

// Within one run a node goes from empty with its voters, to empty without them, to a member of a
// cluster, and never back. Two hellos on two connections may arrive in any order; the one that is
// further on is the newer.
int progress_of(const core::Hello& hello) {
    if (!hello.is_empty()) return 2;
    return hello.voters.empty() ? 1 : 0;
}

}  // namespace

std::size_t PeerConnections::slot_of(Direction direction, Lane lane) {
    const std::size_t of_lane = lane == Lane::replication ? replication_out : 2;
    return of_lane + (direction == Direction::incoming ? 1 : 0);
}

PeerConnections::Admission PeerConnections::admit(Direction direction, Lane lane,
                                                  const core::Hello& hello) {
    auto& peer = peers_[hello.node];
    const auto& run = hello.generation;
    Admission admission;
    if (peer.proven && run.is_outlived_by(*peer.proven)) {
        if (peer.up) admission.refusal = Refusal::copied;
        return admission;
    }
    const bool is_second = peer.up && peer.proven && run != *peer.proven;
    if (is_second && direction == Direction::incoming) {
        admission.refusal = Refusal::id_in_use;
        return admission;
    }
    if (peer.newest && *peer.newest != run) close_all(hello.node, peer, admission.change);
    peer.newest = run;
    if (direction == Direction::outgoing) peer.proven = run;
    const auto slot = slot_of(direction, lane);
    if (peer.connections[slot]) {
        if (is_replication(slot)) {
            close_all(hello.node, peer, admission.change);
        } else {
            close(peer, slot, admission.change);
        }
    }
    newest_id_ = newest_id_.next();
    admission.id = newest_id_;
    peer.connections[slot] = {newest_id_, hello};
    places_[newest_id_] = {hello.node, slot};
    come_up(peer, admission.change);
    return admission;
}

void PeerConnections::come_up(Peer& peer, PeerChange& change) {
    const auto& out = peer.connections[replication_out];
    const auto& in = peer.connections[replication_in];
    if (peer.up || !out || !in) return;
    peer.up = true;
    const bool out_is_newer = progress_of(out->hello) > progress_of(in->hello);
    change.up = out_is_newer ? out->hello : in->hello;
}

PeerChange PeerConnections::ended(ConnectionId id) {
    const auto place = places_.find(id);
    return place == places_.end() ? PeerChange{} : close_at(place->second);
}

PeerChange PeerConnections::drop_former(core::NodeId peer, Lane lane) {
    return close_at({peer, slot_of(Direction::outgoing, lane)});
}

PeerChange PeerConnections::drop(core::NodeId peer) {
    PeerChange change;
    const auto found = peers_.find(peer);
    if (found != peers_.end()) close_all(peer, found->second, change);
    return change;
}

PeerChange PeerConnections::close_at(Place place) {
    PeerChange change;
    const auto found = peers_.find(place.peer);
    if (found == peers_.end() || !found->second.connections[place.slot]) return change;
    if (is_replication(place.slot)) {
        close_all(place.peer, found->second, change);
    } else {
        close(found->second, place.slot, change);
    }
    return change;
}

void PeerConnections::close(Peer& peer, std::size_t slot, PeerChange& change) {
    auto& connection = peer.connections[slot];
    if (!connection) return;
    change.close.push_back(connection->id);
    places_.erase(connection->id);
    connection.reset();
}

void PeerConnections::close_all(core::NodeId id, Peer& peer, PeerChange& change) {
    for (std::size_t slot = 0; slot < peer.connections.size(); ++slot)
        close(peer, slot, change);
    if (peer.up) change.down = id;
    peer.up = false;
}

PeerConnections::Verdict PeerConnections::verdict(ConnectionId id) const {
    const auto place = places_.find(id);
    if (place == places_.end()) return Verdict::late;
    return peers_.at(place->second.peer).up ? Verdict::deliver : Verdict::early;
}

bool PeerConnections::is_up(core::NodeId peer) const {
    const auto found = peers_.find(peer);
    return found != peers_.end() && found->second.up;
}

std::optional<ConnectionId> PeerConnections::outgoing(core::NodeId peer, Lane lane) const {
    const auto found = peers_.find(peer);
    if (found == peers_.end() || !found->second.up) return std::nullopt;
    const auto& connection = found->second.connections[slot_of(Direction::outgoing, lane)];
    return connection ? std::optional{connection->id} : std::nullopt;
}

}  // namespace mortise::transport
