// The network as a node sees it: hellos of peers, messages from and to them, and the door for
// clients. Everything happens on the thread that runs the io_context; so must every call, except
// before start(), and once nobody runs the io_context any more. Nothing here throws.
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
    bool loopback_only = false;  // whatever the name leads to: it is not connected elsewhere
    // Tried in turns with the other one; empty: there is only one. Changes from the next attempt
    // on.
    std::string also{};

    friend bool operator==(const PeerAddress&, const PeerAddress&) = default;
};

// Of what others demand of this node.
struct NetworkLimits {
    std::size_t strangers_max = 64;              // connections that have not said a good hello yet
    std::size_t strangers_per_address_max = 16;  // of one that is not of the loopback network
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
    std::vector<PeerAddress> peers;  // at first; may contain self, which is passed over
    core::Nanoseconds heartbeat{std::chrono::milliseconds{100}};
    core::Nanoseconds election_timeout{std::chrono::seconds{1}};
    std::uint64_t seed = 0;
    NetworkLimits limits;
    std::string cluster;  // its name; certificates of another one are refused
    // With these, every connection is secured and both sides prove who they are.
    std::shared_ptr<const TlsCredentials> credentials;
    // Without credentials: whether addresses that others can reach may be listened on.
    bool listens_beyond_loopback = false;
    Log log;  // may be empty; called on the thread of the io_context
};

// Called one at a time, never from within a call to the network. A peer is up once it has said
// hello and messages to it and from it have a way; a second peer_up without peer_down between means
// that its connection was replaced. Messages come only from peers that are up.
class NetworkEvents {
public:
    virtual ~NetworkEvents() = default;
    // Asked for every new connection, in both directions.
    virtual core::Hello hello() = 0;
    virtual void peer_up(core::Hello peer) = 0;
    virtual void peer_down(core::NodeId peer) = 0;
    virtual void received(core::NodeId from, core::PeerMessage message) = 0;
    // Somebody who is no peer called, and was refused. It may be a member in what this node does
    // not have yet, and its hello says where it is: whoever wants to hear it makes it a peer.
    virtual void introduced(core::Hello caller) = 0;
    // That peer does not speak with this node, at its own address.
    virtual void refused(core::NodeId by, Refusal why) = 0;
};

struct NetworkCounters {
    std::uint64_t accepted = 0;
    std::uint64_t accept_failures = 0;      // out of descriptors, mostly
    std::uint64_t strangers_refused = 0;    // to make room for the next; also clients
    std::uint64_t handshakes_failed = 0;    // no certificate, or one that is not believed
    std::uint64_t strangers_timed_out = 0;  // no good hello in time
    std::uint64_t malformed_frames = 0;     // each ended its connection
    std::uint64_t malformed_messages = 0;   // likewise
    std::uint64_t forbidden_messages = 0;   // likewise: RPC that no node sends, or too much of it
    std::uint64_t stuck_frames = 0;  // likewise: did not end in time, or answers were not read
    // Hellos that this node refused, of callers and of whom it called.
    std::uint64_t refused_protocol = 0;
    std::uint64_t refused_cluster = 0;
    std::uint64_t refused_identity = 0;  // not a peer of this node, or not the one that was called
    std::uint64_t refused_stale = 0;     // of a former life, or of a copy
    std::uint64_t refused_other = 0;
    std::uint64_t refused_by_peers = 0;
    std::uint64_t dials = 0;
    std::uint64_t dial_failures = 0;
    std::uint64_t links_lost = 0;
    std::uint64_t lost_silent = 0;  // of these: nothing came back for too long
    std::uint64_t messages_sent = 0;
    std::uint64_t batches_sent = 0;
    std::uint64_t messages_received = 0;
    std::uint64_t messages_dropped = 0;  // no connection, no room, or late
    std::uint64_t clients = 0;           // connected now

    void count(Refusal refusal);
};

class PeerNetwork {
public:
    // References outlive the network. Without a service, clients are refused.
    PeerNetwork(asio::io_context& io, NetworkOptions options, NetworkEvents& events,
                ClientService* clients);
    // Stops. The io_context must be alive; nobody else may be running it.
    ~PeerNetwork();
    PeerNetwork(const PeerNetwork&) = delete;
    PeerNetwork& operator=(const PeerNetwork&) = delete;

    // Binds and listens; accepts from start() on.
    core::Result<void> listen();
    void start();
    // From now on these are the peers, and nobody else: connections to others are closed, and what
    // waits for them is thrown away. Takes effect in a later turn.
    void set_peers(std::vector<PeerAddress> peers);
    // Closes the connections with that peer, in both directions; it may come back, and is called
    // again. Takes effect in a later turn.
    void disconnect(core::NodeId peer);
    // Queues; what was queued in one turn of the loop travels together. Without a connection to the
    // peer the message is dropped.
    void send(core::NodeId to, core::PeerMessage message);
    // From now on connections are secured with these; those whose other side is not believed any
    // more are closed. Only of a network that had credentials from its beginning. Takes effect in
    // a later turn; may be called on any thread.
    void set_credentials(std::shared_ptr<const TlsCredentials> credentials);
    // All sockets are closed and no event comes any more; may be called from an event. Final.
    void stop();

    // With the real port, when 0 was asked for; the first of them where the name that was given has
    // several addresses. Empty before listen().
    [[nodiscard]] std::string listening_at() const;
    // Of what it listens at; after listen(), until stop().
    [[nodiscard]] std::vector<int> descriptors() const;
    // Whether some other machine may reach it.
    [[nodiscard]] bool is_reachable_from_outside() const;
    [[nodiscard]] NetworkCounters counters() const;

    class Impl;

private:
    std::shared_ptr<Impl> impl_;
};

}  // namespace mortise::transport
