// Which connection to a peer is the current one, when a peer is up, and whose messages still count.
// Pure: connections are numbers here, and whoever owns them does what comes out. README.md has the
// reasons.
//
//   - A peer is up while both replication connections are there, ours to it and its to us, and both
//     were greeted by the same life of it (incarnation and boot epoch).
//   - What breaks one of the two ends all four connections of that peer: no message of before may
//     be heard after the next hello. A broken forwarding connection ends alone.
//   - A connection that the peer makes anew replaces the one that it had, likewise.
//   - A hello of another life ends what is left of the life before; one of an older start of the
//     same directory is refused, older than what answered at the peer's own address. So is one of
//     the same start with another number: one of the two is a copy.
//   - While a peer is up, a caller with its id and another life is refused: what answers at the
//     peer's own address is the peer. One that took the place of a dead machine, or started on it
//     again, is let in when the silence was noticed, or when it answers at that address itself.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/node/hello.hpp"
#include "transport/greeting.hpp"

namespace mortise::transport {

using ConnectionId = core::Id<struct ConnectionKind>;  // of one that was greeted; never used again

enum class Direction : std::uint8_t { outgoing, incoming };

// To be done in this order, at once.
struct PeerChange {
    std::vector<ConnectionId> close;   // nothing that still arrives on them counts
    std::optional<core::NodeId> down;  // also: throw away what waits to be sent to it
    std::optional<core::Hello> up;
};

class PeerConnections {
public:
    struct Admission {
        std::optional<ConnectionId> id;  // empty: refused
        PeerChange change;
        // Why not: stale; copied, where the life that it is none of is here now; or id_in_use.
        Refusal refusal = Refusal::stale;
    };

    // The peer's hello was read, and is acceptable by judge_caller or judge_answer. The change
    // comes before our own half of the hello, where we are the one called.
    [[nodiscard]] Admission admit(Direction direction, Lane lane, const core::Hello& hello);
    // A connection broke, or was closed by its peer; nothing for one that is not current.
    [[nodiscard]] PeerChange ended(ConnectionId id);
    // Before we say hello on a new connection of our own: link_action::DropFormer.
    [[nodiscard]] PeerChange drop_former(core::NodeId peer, Lane lane);
    // Everything of that peer.
    [[nodiscard]] PeerChange drop(core::NodeId peer);

    enum class Verdict : std::uint8_t {
        deliver,
        early,  // its peer is not up yet: keep a few, or drop
        late,   // not current any more: drop
    };
    // Of a message that arrived on this connection.
    [[nodiscard]] Verdict verdict(ConnectionId id) const;
    [[nodiscard]] bool is_up(core::NodeId peer) const;
    // Where to send; empty when the peer is not up, or that lane has no connection of ours.
    [[nodiscard]] std::optional<ConnectionId> outgoing(core::NodeId peer, Lane lane) const;

private:
    struct Life {
        core::Incarnation incarnation;
        core::BootEpoch boot_epoch;
        std::uint64_t number = 0;
        [[nodiscard]] bool is_outlived_by(const Life& other) const {
            return incarnation == other.incarnation && boot_epoch <= other.boot_epoch &&
                   *this != other;
        }
        friend bool operator==(const Life&, const Life&) = default;
    };
    struct Connection {
        ConnectionId id;
        core::Hello hello;
    };
    struct Peer {
        std::array<std::optional<Connection>, 4> connections;
        std::optional<Life> newest;  // heard of
        std::optional<Life> proven;  // heard where we called: anybody may call and say anything
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
