// One lane to one peer: the connection that this node opens, and what it sends on it. LinkMachine
// decides, this class executes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <asio/steady_timer.hpp>

#include "core/base/prng.hpp"
#include "transport/peer.capnp.h"
#include "transport/peers/link_machine.hpp"
#include "transport/peers/outbox.hpp"
#include "transport/peers/peer_connections.hpp"
#include "transport/rpc/handshake.hpp"
#include "transport/rpc/rpc_connection.hpp"
#include "transport/sockets/dial.hpp"
#include "transport/sockets/endpoint_memory.hpp"
#include "transport/sockets/network_values.hpp"
#include "transport/tls/tls_credentials.hpp"
#include "transport/tls/tls_peer.hpp"

namespace mortise::transport {

class PeerLink;

// The owner of the links.
class LinkOwner {
public:
    virtual ~LinkOwner() = default;
    virtual KjLoop& loop() = 0;
    virtual core::Hello hello() = 0;
    // Empty without TLS.
    virtual const std::shared_ptr<const TlsCredentials>& credentials() = 0;
    // The cluster that certificates must name.
    virtual const std::string& cluster() = 0;
    virtual void drop_former(PeerLink& link) = 0;
    // Empty: the hello is stale, and the link must be closed.
    virtual std::optional<ConnectionId> link_up(PeerLink& link, const Greeting& theirs) = 0;
    virtual void link_down(ConnectionId id) = 0;
    // The peer refused our hello.
    virtual void refused(PeerLink& link, Refusal why) = 0;
    // The attempt failed for that reason; see NetworkEvents::unreached().
    virtual void unreached(PeerLink& link, const std::string& why) = 0;
    // Destroys the connection later, outside KJ.
    virtual void bury(std::unique_ptr<RpcConnection> connection) = 0;
    virtual void log(LogLevel level, std::string text) = 0;
    // The peer sent a message that no node sends, and its connection is closed.
    virtual void forbidden(const std::string& who, const char* cause) = 0;
};

struct PeerLinkOptions {
    PeerAddress peer;
    Lane lane = Lane::replication;
    core::Nanoseconds hello_timeout{};
    core::Nanoseconds silence_max{};  // with an unanswered call
    core::Nanoseconds ping_every{};   // without messages to send
    std::size_t calls_in_flight_max = 32;
    OutboxLimits outbox;
    core::Prng prng{0};
};

class PeerLink {
public:
    PeerLink(PeerLinkOptions options, LinkOwner& owner, NetworkCounters& counters);
    ~PeerLink();
    PeerLink(const PeerLink&) = delete;
    PeerLink& operator=(const PeerLink&) = delete;

    void start() { feed(link_event::Start{}); }
    void stop() { feed(link_event::Stop{}); }
    void peer_seen() { feed(link_event::PeerSeen{}); }
    void network_seen() { feed(link_event::NetworkSeen{}); }
    // Its connection is not the current one any more.
    void lose();

    // Applies to the next attempt. The id must be the same.
    void set_addresses(const PeerAddress& peer) {
        options_.peer = peer;
        reported_.clear();
    }

    void push(core::PeerMessage message) { outbox_.push(std::move(message)); }
    // Sends what waits, up to the limit of calls in progress. Called within KJ.
    void flush();
    void throw_away() { outbox_.clear(); }
    // Called at intervals: detects a silent peer, and pings.
    void tick(core::Instant now);

    [[nodiscard]] core::NodeId peer() const { return options_.peer.id; }
    [[nodiscard]] Lane lane() const { return options_.lane; }
    [[nodiscard]] std::optional<ConnectionId> id() const { return id_; }
    // The election timeout of the peer, as its hello says. Not set without a connection, or if the
    // hello does not say.
    [[nodiscard]] std::optional<core::Nanoseconds> timeout_of_peer() const {
        return timeout_of_peer_;
    }
    // The certificate of the present connection, with TLS.
    [[nodiscard]] const PeerCertificate* certificate() const { return certificate_.get(); }
    [[nodiscard]] std::uint64_t dropped() const { return outbox_.dropped(); }
    [[nodiscard]] const LinkCounters& counters() const { return machine_.counters(); }

private:
    void feed(const LinkEvent& event);
    void act(const link_action::Connect& action);
    void act(const link_action::DropFormer& action);
    void act(const link_action::SendHello& action);
    void act(const link_action::PublishUp& action);
    void act(const link_action::PublishDown& action);
    void act(const link_action::Close& action);

    DialTarget next_target();
    [[nodiscard]] EndpointMemory& memory();
    void connected(Attempt attempt, const asio::error_code& error, Socket socket);
    void secured(Attempt attempt, core::Result<Handshake::Secured> secured);
    kj::Own<SocketStream> take_stream();
    void ended(Attempt attempt);
    void say_hello(Attempt attempt);
    void answered(Attempt attempt, const core::Hello& ours, wire::HelloAnswer::Reader answer);
    void send(const std::vector<core::PeerMessage>& batch);
    void returned(Attempt attempt, std::size_t words);
    void set_timer();
    void note_silence();
    void not_reached(const std::string& why);
    void report(std::string_view problem);

    PeerLinkOptions options_;
    LinkOwner& owner_;
    NetworkCounters& counters_;
    LinkMachine machine_;
    Outbox outbox_;
    asio::steady_timer timer_;
    core::Instant timer_at_ = core::Instant::never();
    std::shared_ptr<PeerLink*> self_;  // for objects that may outlive this

    Attempt attempt_;  // of the members below
    std::shared_ptr<Dial> dial_;
    std::optional<asio::ip::tcp::endpoint> dialled_;
    // The same, until the peer is known to be there.
    std::optional<asio::ip::tcp::endpoint> unproven_;
    std::optional<asio::ip::tcp::endpoint> last_known_;  // the endpoint of the last connection
    std::string last_known_at_;                          // its address
    std::size_t turn_ = 0;                               // of the next attempt
    std::string at_;                                     // the address of this attempt
    std::shared_ptr<Handshake> handshake_;
    // One of these exists while it is connected without a hello.
    std::optional<Socket> socket_;
    std::function<kj::Own<SocketStream>(KjLoop&)> secured_;
    std::unique_ptr<PeerCertificate> certificate_;
    std::unique_ptr<RpcConnection> connection_;
    std::optional<wire::Peer::Client> remote_;
    std::optional<ConnectionId> id_;
    std::optional<core::Nanoseconds> timeout_of_peer_;
    std::size_t in_flight_ = 0;  // calls without an answer
    std::size_t words_in_flight_ = 0;
    core::Instant last_progress_;
    core::Instant last_sent_;
    bool suspect_ = false;
    std::map<std::string, std::string> reported_;  // in the log, by address
    bool has_reason_ = false;                      // the owner knows why it is not up
};

}  // namespace mortise::transport
