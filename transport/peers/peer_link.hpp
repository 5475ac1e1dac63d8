// One lane to one peer: the connection that this node opens, and what it sends on it. LinkMachine
// decides, this class executes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <asio/steady_timer.hpp>

#include "core/base/prng.hpp"
#include "transport/peers/dial_plan.hpp"
#include "transport/peers/link_machine.hpp"
#include "transport/peers/link_reports.hpp"
#include "transport/peers/link_stage.hpp"
#include "transport/peers/outbox.hpp"
#include "transport/sockets/network_values.hpp"
#include "transport/tls/tls_credentials.hpp"

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
        reports_.forget_problems();
    }

    void push(core::PeerMessage message) { outbox_.push(std::move(message)); }
    // Sends what waits, up to the limit of calls in progress. Called within KJ.
    void flush();
    void throw_away() { outbox_.clear(); }
    // Called at intervals: detects a silent peer, and pings.
    void tick(core::Instant now);

    [[nodiscard]] core::NodeId peer() const { return options_.peer.id; }
    [[nodiscard]] Lane lane() const { return options_.lane; }
    // Not set unless the owner has admitted the present connection.
    [[nodiscard]] std::optional<ConnectionId> id() const {
        return up() != nullptr ? up()->id : std::nullopt;
    }
    // The election timeout of the peer, as its hello says. Not set without a connection, or if the
    // hello does not say.
    [[nodiscard]] std::optional<core::Nanoseconds> timeout_of_peer() const {
        return up() != nullptr ? up()->timeout_of_peer : std::nullopt;
    }
    // The certificate of the present connection; null if there is none, or no TLS.
    [[nodiscard]] const PeerCertificate* certificate() const;
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

    // Null in any other stage.
    template <class Stage>
    [[nodiscard]] Stage* in() {
        return std::get_if<Stage>(&stage_);
    }
    // Null unless the owner has admitted the connection.
    [[nodiscard]] link_stage::Up* admitted();
    [[nodiscard]] const link_stage::Up* up() const { return std::get_if<link_stage::Up>(&stage_); }
    void cancel();
    [[nodiscard]] std::unique_ptr<RpcConnection> take_connection();

    [[nodiscard]] EndpointMemory& memory();
    void connected(Attempt attempt, const asio::error_code& error, Socket socket);
    void secured(Attempt attempt, core::Result<Handshake::Secured> secured);
    void ended(Attempt attempt);
    void say_hello(RpcConnection& connection, Attempt attempt);
    void answered(Attempt attempt, const core::Hello& ours, wire::HelloAnswer::Reader answer);
    void send(link_stage::Up& up, const std::vector<core::PeerMessage>& batch);
    void returned(Attempt attempt, std::uint32_t question);
    void set_timer();
    void note_silence();
    void not_reached(const std::string& why);
    void report(std::string_view problem, LogLevel level = LogLevel::warning);

    // Set once, except for the addresses of the peer: see set_addresses().
    PeerLinkOptions options_;
    LinkOwner& owner_;           // outlives this link
    NetworkCounters& counters_;  // belong to the owner and count for all links
    LinkMachine machine_;        // decides what happens at an event
    Outbox outbox_;              // has what waits to be sent, whatever the stage is
    asio::steady_timer timer_;   // is set while the machine has a deadline
    // When the timer fires; never while it is not set.
    core::Instant timer_at_ = core::Instant::never();
    std::shared_ptr<PeerLink*> self_;  // ends with this link, for handlers of the timer
    Attempt attempt_;                  // is the newest one; what comes of earlier ones is ignored
    LinkStage stage_;                  // is that of the newest attempt
    DialPlan plan_;                    // says where each attempt dials; learns when one has worked
    LinkReports reports_;              // are cleared when the owner has admitted a connection
};

}  // namespace mortise::transport
