// The network of a node: hellos of peers, messages from and to them, and the service for clients.
// Everything happens on the thread that runs the io_context, and every call must come from it,
// except before start() and after the io_context has stopped. Nothing here throws.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <asio/io_context.hpp>

#include "core/base/instant.hpp"
#include "core/base/result.hpp"
#include "core/node/hello.hpp"
#include "core/node/message.hpp"
#include "transport/greeting.hpp"
#include "transport/log.hpp"

namespace mortise::transport {

class ClientService;
class TlsCredentials;

struct PeerAddress {
    core::NodeId id;
    std::string address;         // "host:port", "[::1]:port"
    bool loopback_only = false;  // connect to loopback endpoints of the name only
    // A second address, which is tried in turns with the other; empty: there is none. A change
    // applies to the next attempt.
    std::string also{};

    friend bool operator==(const PeerAddress&, const PeerAddress&) = default;
};

// Limits on what others may demand of this node.
struct NetworkLimits {
    std::size_t strangers_max = 64;              // connections without a valid hello
    std::size_t strangers_per_address_max = 16;  // from one address outside of the loopback network
    std::size_t clients_max = 256;
    std::size_t handshakes_per_second = 100;                    // with TLS; those beyond wait
    core::Nanoseconds hello_timeout{std::chrono::seconds{5}};   // of the handshake and the hello
    core::Nanoseconds frame_timeout{std::chrono::seconds{30}};  // from its first byte to its last
    core::Nanoseconds accept_pause{std::chrono::milliseconds{200}};  // when out of descriptors
    std::size_t calls_in_flight_max = 4;                             // batches, per connection
    std::size_t outbox_bytes_max = std::size_t{16} << 20U;           // of each peer and lane
};

struct NetworkOptions {
    core::NodeId self;
    std::string listen;              // "host:port"; port 0 asks for any
    std::vector<PeerAddress> peers;  // at the start; may contain self, which is skipped
    core::Nanoseconds heartbeat{std::chrono::milliseconds{100}};
    core::Nanoseconds election_timeout{std::chrono::seconds{1}};
    std::uint64_t seed = 0;
    NetworkLimits limits;
    std::string cluster;  // its name; certificates of another cluster are refused
    // With credentials every connection is secured, and both sides authenticate.
    std::shared_ptr<const TlsCredentials> credentials;
    // Whether it may listen on addresses other than loopback without credentials.
    bool listens_beyond_loopback = false;
    Log log;  // may be empty; called on the thread of the io_context
};

// Called one at a time, and never from within a call of the network. A peer is up once it has said
// hello and there is a connection in each direction. A second peer_up without a peer_down in
// between means that its connection was replaced. Messages come only from peers that are up.
class NetworkEvents {
public:
    virtual ~NetworkEvents() = default;
    // Called for every new connection, in both directions.
    virtual core::Hello hello() = 0;
    virtual void peer_up(core::Hello peer) = 0;
    virtual void peer_down(core::NodeId peer) = 0;
    virtual void received(core::NodeId from, core::PeerMessage message) = 0;
    // A caller that is not a peer was refused. It may be a member that this node does not know yet,
    // and its hello has its address; set_peers() can make it a peer.
    virtual void introduced(core::Hello caller) = 0;
    // That peer, at its own address, refuses to communicate with this node.
    virtual void refused(core::NodeId by, Refusal why) = 0;
};

struct NetworkCounters {
    std::uint64_t accepted = 0;
    std::uint64_t accept_failures = 0;      // mostly for lack of descriptors
    std::uint64_t strangers_refused = 0;    // closed for a newer connection; also clients
    std::uint64_t handshakes_failed = 0;    // without a certificate, or with an untrusted one
    std::uint64_t strangers_timed_out = 0;  // without a valid hello in time
    std::uint64_t malformed_frames = 0;     // each ended its connection
    std::uint64_t malformed_messages = 0;   // the same
    std::uint64_t forbidden_messages = 0;   // the same: RPC that no node sends, or too much of it
    std::uint64_t stuck_frames = 0;  // the same: did not end in time, or answers were not read
    // Hellos that this node refused, of callers and of nodes that it called.
    std::uint64_t refused_protocol = 0;
    std::uint64_t refused_cluster = 0;
    std::uint64_t refused_identity = 0;  // not a peer of this node, or not the node that was called
    std::uint64_t refused_stale = 0;     // of an earlier run, or of a copy
    std::uint64_t refused_other = 0;
    std::uint64_t refused_by_peers = 0;
    std::uint64_t dials = 0;
    std::uint64_t dial_failures = 0;
    std::uint64_t links_lost = 0;
    std::uint64_t lost_silent = 0;  // among them: no answer for too long
    std::uint64_t messages_sent = 0;
    std::uint64_t batches_sent = 0;
    std::uint64_t messages_received = 0;
    std::uint64_t messages_dropped = 0;  // no connection, a full queue, or too late
    std::uint64_t clients = 0;           // connected now

    void count(Refusal refusal);
};

class PeerNetwork {
public:
    // References outlive the network. Without a service, clients are refused.
    PeerNetwork(asio::io_context& io, NetworkOptions options, NetworkEvents& events,
                ClientService* clients);
    // Stops. The io_context must exist and must not be running.
    ~PeerNetwork();
    PeerNetwork(const PeerNetwork&) = delete;
    PeerNetwork& operator=(const PeerNetwork&) = delete;

    // Binds and listens; connections are accepted from start() on.
    core::Result<void> listen();
    void start();
    // Replaces the peers: connections to others are closed, and messages to them are dropped. Takes
    // effect in a later turn.
    void set_peers(std::vector<PeerAddress> peers);
    // Closes the connections with that peer, in both directions. The peer may come back, and is
    // called again. Takes effect in a later turn.
    void disconnect(core::NodeId peer);
    // Queues the message; what is queued in one turn of the loop travels together. Without a
    // connection to the peer the message is dropped.
    void send(core::NodeId to, core::PeerMessage message);
    // Secures new connections with these credentials, and closes connections whose other side is
    // not trusted any more. Only for a network that was created with credentials. Takes effect in a
    // later turn; may be called on any thread.
    void set_credentials(std::shared_ptr<const TlsCredentials> credentials);
    // Final: closes all sockets, and no event comes any more. May be called from an event.
    void stop();

    // The address with the port that was bound; the first one if the name has several. Empty before
    // listen().
    [[nodiscard]] std::string listening_at() const;
    // The listening descriptors, from listen() to stop().
    [[nodiscard]] std::vector<int> descriptors() const;
    // Whether another machine may reach it.
    [[nodiscard]] bool is_reachable_from_outside() const;
    [[nodiscard]] NetworkCounters counters() const;

    class Impl;

private:
    std::shared_ptr<Impl> impl_;
};

}  // namespace mortise::transport
