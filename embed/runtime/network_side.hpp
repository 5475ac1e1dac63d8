// The network of this node: the other end of ProgramSide. What the driver sends leaves here, and
// what peers do and say comes in as a step. It runs on the core thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "embed/host/descriptor_watch.hpp"
#include "embed/host/log_sink.hpp"
#include "embed/runtime/driver.hpp"
#include "embed/runtime/peer_contacts.hpp"
#include "embed/runtime/peer_finder.hpp"
#include "embed/runtime/peers_to_call.hpp"
#include "embed/threads/event_hub.hpp"
#include "transport/network/peer_network.hpp"
#include <mortise/config.hpp>
#include <mortise/metrics.hpp>

namespace mortise::detail {

class ClientDesk;

// How many clients a node with that configuration admits.
[[nodiscard]] std::size_t clients_max(const Config& config);

class NetworkSide final : public PeerSender, public transport::NetworkEvents {
public:
    // Everything outlives it.
    struct Parts {
        asio::io_context& io;
        const Config& config;
        NodeLog& log;
        EventHub& events;
        DescriptorWatch& descriptors;
        ClientDesk& desk;  // serves clients
        // Called from start() on.
        std::function<const core::NodeCore&()> core;
        std::function<void(core::Event)> step;
        // Nodes were looked for by the name of the peers: found() may have news.
        std::function<void()> looked;
    };

    // A node that does not listen has no network: nothing arrives, and what is sent is dropped.
    // Without TLS there are no credentials. `listened_at` is the address of an earlier run in this
    // process, whose port is used again; empty if there was none.
    NetworkSide(Parts parts, std::shared_ptr<const transport::TlsCredentials> credentials,
                std::uint64_t seed, const std::string& listened_at);
    ~NetworkSide() override;
    NetworkSide(const NetworkSide&) = delete;
    NetworkSide& operator=(const NetworkSide&) = delete;

    // Binds the configured addresses. Throws std::system_error with one line.
    void listen();
    void start();
    // Closes all sockets; nothing arrives any more.
    void stop();
    // The connections that stop() closed were not lost.
    void forget_connections() { contacts_.disconnected(); }
    void set_credentials(std::shared_ptr<const transport::TlsCredentials> credentials);
    void leader_changed(bool has_leader);

    [[nodiscard]] const PeerContacts& contacts() const { return contacts_; }
    // Who was found by the name of the peers; nobody without such a name.
    [[nodiscard]] std::vector<FoundPeers::Node> found() const;
    // The name of the peers as long as it does not have this node; empty without such a name.
    [[nodiscard]] std::string unlisted_by() const;
    // The peers of the file, or of the name, that are not connected, and why (PeerContacts).
    [[nodiscard]] std::string missing() const;
    // The address with the port that is bound; empty without a network.
    [[nodiscard]] std::string listening_at() const;
    // Whether other machines reach it without TLS.
    [[nodiscard]] bool is_insecure() const;
    void add_counters(Metrics& to) const;

    // For the driver.
    void send(core::NodeId to, core::PeerMessage message) override;
    void flush() override;
    void set_peers(const std::vector<core::Member>& peers) override;
    void disconnect(core::NodeId peer) override;
    void notify(core::ClientId client, const core::ClientNotice& notice) override;
    void disconnect(core::ClientId client) override;
    void hang_up(core::ClientId client) override;
    void pace(const core::ClientFlow::Change& change) override;

private:
    core::Hello hello() override;
    void peer_up(core::Hello peer) override;
    void peer_down(core::NodeId peer) override;
    void received(core::NodeId from, core::PeerMessage message) override;
    void introduced(core::Hello caller) override;
    void refused(core::NodeId by, transport::Refusal why) override;
    void unreached(core::NodeId peer, const std::string& why) override;

    void begin_to_find();
    [[nodiscard]] bool is_open(const FoundPeers::Node& node) const;
    void found_by_name();
    void connect_to_peers();
    void warn_of_timing(const core::Hello& peer);
    void warn_of_insecurity();

    // what it uses of the node: set by the constructor
    const Parts parts_;
    // the newest credentials, from the constructor or set_credentials(); null without TLS
    std::shared_ptr<const transport::TlsCredentials> credentials_;
    // the sockets: made by the constructor; null if this node does not listen
    std::unique_ptr<transport::PeerNetwork> network_;
    // the listening sockets, which parts_.descriptors watches: from listen() to stop()
    std::vector<int> doors_;
    // who is connected, and why the others are not: set by what the network reports
    PeerContacts contacts_;
    // whom the network connects with: set by what the driver and callers say
    PeersToCall to_call_;
    // looks for the peers by their name: made by the constructor; null if they are listed
    std::unique_ptr<PeerFinder> finder_;
    // the next warning of a network without TLS: from start() to stop(), if there is reason for it
    asio::steady_timer insecurity_;
};

}  // namespace mortise::detail
