// Decides which connection to a peer is the current one, when a peer is up, and whose messages
// still count. Pure: connections are numbers here, and their owner executes the decisions.
// README.md has the reasons.
//
// - A peer is up while both replication connections exist, ours to it and its to us, and both were
//   greeted by the same run of it (core/base/generation.hpp).
// - If one of the two breaks, all four connections of that peer are closed: no earlier message may
//   be received after the next hello. A broken forwarding connection ends alone.
// - A new connection of the peer replaces its old one in the same way.
// - A hello of another run ends the connections of the run before. A hello of an older start of the
//   same directory than the one that answered at the peer's own address is refused, and so is one
//   of the same start with another number: one of the two is a copy.
// - While a peer is up, a caller with its id and another generation is refused, because the peer is
//   whatever answers at the peer's own address. A node that replaced a dead machine, or was
//   restarted on it, is accepted when the silence of the former one was detected, or when it
//   answers at that address itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/node/hello.hpp"
#include "transport/wire/greeting.hpp"

namespace mortise::transport {

// Each side opens one for each lane.
constexpr std::size_t connections_per_peer_max = 4;

using ConnectionId = core::Id<struct ConnectionKind>;  // of a greeted connection; never reused

enum class Direction : std::uint8_t { outgoing, incoming };

// To be executed in this order, at once.
struct PeerChange {
    std::vector<ConnectionId> close;   // what still arrives on them does not count
    std::optional<core::NodeId> down;  // also drop what waits to be sent to it
    std::optional<core::Hello> up;
};

class PeerConnections {
public:
    struct Admission {
        std::optional<ConnectionId> id;  // empty: refused
        PeerChange change;
        // The reason: stale; copied, if the other run is connected now; or id_in_use.
        Refusal refusal = Refusal::stale;
    };

    // The peer's hello was read, and is accepted by judge_caller or judge_answer. The change is
    // executed before our own half of the hello, if we are the called side.
    [[nodiscard]] Admission admit(Direction direction, Lane lane, const core::Hello& hello);
    // A connection broke, or its peer closed it; no change if it is not current.
    [[nodiscard]] PeerChange ended(ConnectionId id);
    // Called before we say hello on a new connection of our own: link_action::DropFormer.
    [[nodiscard]] PeerChange drop_former(core::NodeId peer, Lane lane);
    // Closes all connections of that peer.
    [[nodiscard]] PeerChange drop(core::NodeId peer);

    enum class Verdict : std::uint8_t {
        deliver,
        early,  // its peer is not up yet: keep it for a moment, or drop it
        late,   // the connection is not current any more: drop it
    };
    // What to do with a message that arrived on this connection.
    [[nodiscard]] Verdict verdict(ConnectionId id) const;
    [[nodiscard]] bool is_up(core::NodeId peer) const;
    // The connection to send on; empty if the peer is not up, or has none of ours on that lane.
    [[nodiscard]] std::optional<ConnectionId> outgoing(core::NodeId peer, Lane lane) const;

private:
    struct Connection {
        ConnectionId id;
        core::Hello hello;
    };
    struct Peer {
        std::array<std::optional<Connection>, connections_per_peer_max> connections;
        std::optional<core::Generation> newest;  // the newest run seen
        // The run seen at the peer's address; callers may claim anything.
        std::optional<core::Generation> proven;
        bool up = false;
    };
    struct Place {
        core::NodeId peer;
        std::size_t slot = 0;
    };

    static std::size_t slot_of(Direction direction, Lane lane);
    void close(Peer& peer, std::size_t slot, PeerChange& change);
    void close_all(core::NodeId id, Peer& peer, PeerChange& change);
    void come_up(Peer& peer, PeerChange& change);
    PeerChange close_at(Place place);

    std::map<core::NodeId, Peer> peers_;
    std::map<ConnectionId, Place> places_;  // of current connections
    ConnectionId newest_id_;
};

}  // namespace mortise::transport
