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
#include "transport/sockets/log.hpp"
#include "transport/sockets/network_limits.hpp"
#include "transport/sockets/network_values.hpp"
#include "transport/wire/greeting.hpp"

namespace mortise::transport {

class ClientService;
class TlsCredentials;

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
    // An attempt to connect to that peer failed. `why` is a clause for the operator, which says
    // what to do: "nothing listens there: start it, or correct its address".
    virtual void unreached(core::NodeId /*peer*/, const std::string& /*why*/) {}
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
    // Queues the message until flush(). Without a connection to the peer the message is dropped.
    void send(core::NodeId to, core::PeerMessage message);
    // Sends what is queued: at once, or when it is called from an event, once the event is over.
    // What was queued for a peer travels together.
    void flush();
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
