// One lane to one peer: the connection that this node makes, and what it sends on it. The machine
// decides, this does.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <asio/steady_timer.hpp>

#include "core/base/prng.hpp"
#include "transport/dial.hpp"
#include "transport/handshake.hpp"
#include "transport/link_machine.hpp"
#include "transport/outbox.hpp"
#include "transport/peer.capnp.h"
#include "transport/peer_connections.hpp"
#include "transport/peer_network.hpp"
#include "transport/rpc_connection.hpp"
#include "transport/tls_credentials.hpp"
#include "transport/tls_peer.hpp"

namespace mortise::transport {

class PeerLink;

// Whoever owns the links.
class LinkOwner {
public:
    virtual ~LinkOwner() = default;
    virtual KjLoop& loop() = 0;
    virtual core::Hello hello() = 0;
    // Empty without TLS.
    virtual const std::shared_ptr<const TlsCredentials>& credentials() = 0;
    // The name that certificates have to have.
    virtual const std::string& cluster() = 0;
    virtual void drop_former(PeerLink& link) = 0;
    // Empty: stale, the link must be given up.
    virtual std::optional<ConnectionId> link_up(PeerLink& link, const Greeting& theirs) = 0;
    virtual void link_down(ConnectionId id) = 0;
    // By the peer, in answer to our hello.
    virtual void refused(PeerLink& link, Refusal why) = 0;
    // To be destroyed later, outside KJ.
    virtual void bury(std::unique_ptr<RpcConnection> connection) = 0;
    virtual void log(LogLevel level, std::string text) = 0;
    // It said what no node says, and its connection is closed.
    virtual void forbidden(const std::string& who, const char* cause) = 0;
};

struct PeerLinkOptions {
    PeerAddress peer;
    Lane lane = Lane::replication;
    core::Nanoseconds hello_timeout{};
    core::Nanoseconds silence_max{};  // with something unanswered
    core::Nanoseconds ping_every{};   // with nothing to say
    std::size_t calls_in_flight_max = 4;
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
    // Its connection is not current any more.
    void lose();

    // From the next attempt on. Requires the same id.
    void set_ways(const PeerAddress& peer) {
        options_.peer = peer;
        reported_.clear();
    }

    void push(core::PeerMessage message) { outbox_.push(std::move(message)); }
    // Within KJ: sends what waits, as far as calls may be in flight.
    void flush();
    void throw_away() { outbox_.clear(); }
    // Now and then: what has not come back for too long, and whether to ask.
    void tick(core::Instant now);

    [[nodiscard]] core::NodeId peer() const { return options_.peer.id; }
    [[nodiscard]] Lane lane() const { return options_.lane; }
    [[nodiscard]] std::optional<ConnectionId> id() const { return id_; }
    // Of the present connection, with TLS.
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
    void connected(Attempt attempt, const asio::error_code& error, Socket socket);
    void secured(Attempt attempt, core::Result<Handshake::Secured> secured);
    kj::Own<SocketStream> take_stream();
    void ended(Attempt attempt);
    void say_hello(Attempt attempt);
    void answered(Attempt attempt, const core::Hello& ours, wire::HelloAnswer::Reader answer);
    void send(const std::vector<core::PeerMessage>& batch);
    void returned(Attempt attempt);
    void set_timer();
    void report(std::string_view problem);

    PeerLinkOptions options_;
    LinkOwner& owner_;
    NetworkCounters& counters_;
    LinkMachine machine_;
    Outbox outbox_;
    asio::steady_timer timer_;
    core::Instant timer_at_ = core::Instant::never();
    std::shared_ptr<PeerLink*> self_;  // for what may outlive this

    Attempt attempt_;  // of what follows
    std::shared_ptr<Dial> dial_;
    std::optional<asio::ip::tcp::endpoint> dialled_;
    std::optional<asio::ip::tcp::endpoint> last_known_;  // where it was up the last time
    std::string last_known_at_;                          // the address that led there
    std::size_t turn_ = 0;                               // of the next attempt
    std::string at_;                                     // the address of this attempt
    std::shared_ptr<Handshake> handshake_;
    // One of these is connected, no hello said yet.
    std::optional<Socket> socket_;
    std::function<kj::Own<SocketStream>(KjLoop&)> secured_;
    std::unique_ptr<PeerCertificate> certificate_;
    std::unique_ptr<RpcConnection> connection_;
    std::optional<wire::Peer::Client> remote_;
    std::optional<ConnectionId> id_;
    std::size_t in_flight_ = 0;
    core::Instant last_progress_;
    core::Instant last_sent_;
    bool suspect_ = false;
    std::map<std::string, std::string> reported_;  // in the log, of each address
};

}  // namespace mortise::transport
