// PeerNetwork, composed of its parts.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <asio/steady_timer.hpp>

#include "transport/clients/client_service.hpp"
#include "transport/clients/count_limit.hpp"
#include "transport/network/handshake_turns.hpp"
#include "transport/network/inbound_connection.hpp"
#include "transport/network/notice_limit.hpp"
#include "transport/network/peer_network.hpp"
#include "transport/network/rate.hpp"
#include "transport/peers/peer_connections.hpp"
#include "transport/peers/peer_link.hpp"
#include "transport/sockets/listener.hpp"
#include "transport/tls/tls_credentials.hpp"
#include "transport/tls/tls_peer.hpp"
#include "transport/wire/message_limits.hpp"

namespace mortise::transport {

// It is one class because every decision is about connections of all kinds: they share the limits
// of the process, and a connection ends its way in another role than it began (unauthenticated,
// then a peer's or a client's), while none may be destroyed under KJ. PeerConnections, PeerLink,
// InboundConnection and Listener have the state of one subject; there is a source file for each
// group of functions.
class PeerNetwork::Impl final : public std::enable_shared_from_this<Impl>,
                                public LinkOwner,
                                public InboundOwner {
public:
    Impl(asio::io_context& io, NetworkOptions options, NetworkEvents& events,
         ClientService* clients);
    ~Impl() noexcept override = default;

    core::Result<void> listen();
    void start();
    void set_peers(std::vector<PeerAddress> peers);
    void disconnect(core::NodeId peer);
    void send(core::NodeId to, core::PeerMessage message);
    void flush();
    void stop();
    void set_credentials(std::shared_ptr<const TlsCredentials> credentials);
    [[nodiscard]] std::string listening_at() const { return listener_.at(); }
    [[nodiscard]] std::vector<int> descriptors() const { return listener_.descriptors(); }
    [[nodiscard]] bool is_reachable_from_outside() const { return !listener_.is_local(); }
    [[nodiscard]] NetworkCounters counters() const;

private:
    // network_impl.cpp
    KjLoop& loop() override { return loop_; }
    void log(LogLevel level, std::string text) override;
    void flush_links();
    [[nodiscard]] core::Nanoseconds tick_every() const;
    void tick();
    void tick_later();
    void tick_sooner();
    void tick_inbound(core::Instant now);
    void settle();
    static void add_counters(const PeerLink& link, NetworkCounters& to);

    // network_changes.cpp
    void change_peers(const std::vector<PeerAddress>& peers);
    void change_peer(PeerAddress& known, const PeerAddress& peer);
    void change_addresses(const PeerAddress& peer);
    void add_peer(const PeerAddress& peer);
    void drop_peer(core::NodeId peer);
    void drop_clients_of(core::NodeId peer);

    // network_handshakes.cpp
    void begin_handshakes();
    [[nodiscard]] InboundConnection* next_handshake() const;
    void handshake_failed(InboundConnection& inbound, const core::Error& error);
    void close_unbelieved();

    // network_peers.cpp: links
    const std::shared_ptr<const TlsCredentials>& credentials() override { return credentials_; }
    const std::string& cluster() override { return options_.cluster; }
    core::Hello hello() override { return events_.hello(); }
    void drop_former(PeerLink& link) override;
    std::optional<ConnectionId> link_up(PeerLink& link, const Greeting& theirs) override;
    void link_down(ConnectionId id) override;
    void refused(PeerLink& link, Refusal why) override;
    void unreached(PeerLink& link, const std::string& why) override;
    void bury(std::unique_ptr<RpcConnection> connection) override;
    void forbidden(const std::string& who, const char* cause) override;

    // network_unauthenticated.cpp
    void accept(Socket socket, const asio::ip::address& from);
    [[nodiscard]] InboundConnection* stranger_to_close_for(const asio::ip::address& from) const;

    // network_peers.cpp: inbound connections
    Admittance admit(InboundConnection& inbound, const std::optional<Greeting>& caller) override;
    [[nodiscard]] std::vector<core::NodeId> members() const;
    Admittance admit_peer(InboundConnection& inbound, Lane lane, const Greeting& caller);
    Admittance refuse(Refusal refusal);
    void report_refused(InboundConnection& inbound, const core::Hello& caller, Refusal refusal);
    void received(InboundConnection& inbound, std::vector<core::PeerMessage> batch) override;
    void malformed(InboundConnection& inbound) override;
    void left(InboundConnection& inbound) override;
    void close(InboundConnection& inbound);

    // network_clients.cpp
    [[nodiscard]] InboundConnection* client_to_close() const;
    Admittance admit_client(InboundConnection& inbound);
    void make_room() override;
    void keeps(InboundConnection& inbound, std::size_t before) override;
    using BytesOf = std::size_t (InboundConnection::*)() const;
    [[nodiscard]] InboundConnection* client_above(std::size_t all_max, BytesOf bytes_of) const;

    // network_peers.cpp again
    void apply(const PeerChange& change);
    void close(ConnectionId id);
    void deliver(core::NodeId from, core::PeerMessage message);
    void deliver_early(core::NodeId peer);

    NetworkOptions options_;
    NetworkEvents& events_;
    ClientService* clients_;
    NetworkCounters counters_;
    std::shared_ptr<const TlsCredentials> credentials_;
    KjLoop loop_;
    Listener listener_;
    asio::steady_timer ticker_;
    std::vector<PeerAddress> known_;  // not self
    PeerConnections connections_;
    // Changes only in a turn of its own, when nothing iterates over it.
    std::vector<std::unique_ptr<PeerLink>> links_;
    std::uint64_t newest_link_ = 0;
    std::map<InboundConnection*, std::shared_ptr<InboundConnection>> inbound_;
    std::size_t kept_bytes_ = 0;  // for all of them
    Rate handshakes_;
    HandshakeTurns turns_;
    CountLimit lists_{lists_max};  // for all clients
    NoticeLimit notices_;

    // Destroyed when KJ is not on the stack.
    std::vector<std::unique_ptr<RpcConnection>> dead_connections_;
    std::vector<std::shared_ptr<InboundConnection>> dead_inbound_;

    bool stopped_ = false;
    bool flush_is_due_ = false;
    bool sends_answers_ = false;  // in this tick: only in every second one
    bool settling_ = false;
};

}  // namespace mortise::transport
