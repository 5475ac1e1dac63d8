#include "embed/runtime/network_side.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include "embed/host/descriptor_budget.hpp"
#include "embed/runtime/client_desk.hpp"
#include "embed/threads/stage_trace.hpp"
#include "embed/values/clocks.hpp"
#include "embed/values/one_line.hpp"
#include "storage/base/descriptors.hpp"
#include <mortise/escaped.hpp>

namespace mortise::detail {

namespace {

LogLevel level_of(transport::LogLevel level) {
    switch (level) {
        case transport::LogLevel::debug: return LogLevel::debug;
        case transport::LogLevel::info: return LogLevel::info;
        case transport::LogLevel::warning: return LogLevel::warn;
        case transport::LogLevel::error: break;
    }
    return LogLevel::error;
}

// The same addresses, each with the port that was assigned for port 0.
std::string with_port_of(const std::string& listen, const std::string& listening_at) {
    const auto port_of = [](const std::string& address) { return address.rfind(':') + 1; };
    return listen.substr(0, port_of(listen)) + listening_at.substr(port_of(listening_at));
}

transport::NetworkOptions network_options(const Config& config, NodeLog& log) {
    transport::NetworkOptions options;
    options.self = core::NodeId{config.own_id()};
    options.listen = config.listen;
    options.cluster = config.cluster;
    options.listens_beyond_loopback = config.tls.insecure;
    // The first step says who of them is a member, before a caller is heard.
    const PeersToCall to_call{config};
    for (const auto& peer : to_call.listed())
        options.peers.push_back(
            {.id = core::NodeId{peer.id}, .address = peer.address, .is_member = true});
    options.heartbeat = config.timing.heartbeat.to_nanoseconds();
    options.election_timeout = config.timing.election_timeout.to_nanoseconds();
    const auto budget = descriptor_budget(storage::descriptor_limit(), config);
    options.limits.strangers_max = budget.strangers_max;
    options.limits.clients_max = budget.clients_max;
    options.limits.outbox_bytes_max = config.limits.outbox_bytes;
    options.log = [&log](transport::LogLevel level, const std::string& text) {
        log.write(level_of(level), "network", text);
    };
    return options;
}

}  // namespace

std::size_t clients_max(const Config& config) {
    return descriptor_budget(storage::descriptor_limit(), config).clients_max;
}

NetworkSide::NetworkSide(Parts parts, std::shared_ptr<const transport::TlsCredentials> credentials,
                         std::uint64_t seed, const std::string& listened_at)
    : parts_{std::move(parts)},
      credentials_{std::move(credentials)},
      contacts_{steady_now(), !parts_.config.peers_from.empty()},
      to_call_{parts_.config},
      insecurity_{parts_.io} {
    if (parts_.config.listen.empty()) return;
    auto options = network_options(parts_.config, parts_.log);
    options.credentials = credentials_;
    options.seed = seed;
    if (!listened_at.empty()) options.listen = with_port_of(options.listen, listened_at);
    network_ = std::make_unique<transport::PeerNetwork>(parts_.io, std::move(options), *this,
                                                        &parts_.desk);
    if (!parts_.config.peers_from.empty()) begin_to_find();
}

void NetworkSide::begin_to_find() {
    finder_ = std::make_unique<PeerFinder>(PeerFinder::Parts{
        parts_.io, parts_.config, parts_.log,
        [this](const FoundPeers::Node& node) { return is_open(node); },
        [this] { return parts_.core().raft().configuration_id(); },
        [this] { return parts_.core().hello().cluster; },
        [this] { return parts_.core().raft().leader().has_value(); }, [this] { found_by_name(); }});
}

// What a node said counts while the same run of it is connected; another run may have another
// directory. If it said that it belongs to no cluster, it may belong to one since, and is added as
// long as it does not.
bool NetworkSide::is_open(const FoundPeers::Node& node) const {
    if (node.id.raw() == parts_.config.own_id()) return false;
    const auto up = contacts_.connected().find(node.id);
    if (up == contacts_.connected().end()) return true;
    if (!node.hello) return false;
    if (!node.hello->generation.is_same_start(up->second.generation)) return true;
    return parts_.core().raft().configuration().is_formed() && node.hello->is_empty();
}

// Until there is a cluster, nodes with one id are none of its voters.
void NetworkSide::found_by_name() {
    const auto& found = finder_->found();
    const bool is_formed = parts_.core().raft().configuration().is_formed();
    to_call_.found(is_formed ? found.addresses() : found.unambiguous());
    connect_to_peers();
    parts_.looked();
}

std::vector<FoundPeers::Node> NetworkSide::found() const {
    return finder_ ? finder_->found().nodes() : std::vector<FoundPeers::Node>{};
}

std::string NetworkSide::unlisted_by() const {
    const auto is_own = [&](const auto& node) { return node.id.raw() == parts_.config.own_id(); };
    return !finder_ || std::ranges::any_of(found(), is_own) ? std::string{} : finder_->name();
}

std::string NetworkSide::missing() const {
    auto peers = to_call_.listed();
    for (auto& peer : peers) {
        if (peer.address.empty() && finder_) peer.address = "not found at " + finder_->name();
    }
    return contacts_.missing(peers, parts_.config.own_id(), steady_now());
}

NetworkSide::~NetworkSide() {
    for (const int door : doors_)
        parts_.descriptors.remove(door);
}

void NetworkSide::listen() {
    if (!network_) return;
    if (const auto listening = network_->listen(); !listening) throw in_one_line(listening.error());
    doors_ = network_->descriptors();
    for (const int door : doors_)
        parts_.descriptors.add(door);
}

void NetworkSide::start() {
    if (network_) network_->start();
    if (finder_) finder_->begin(credentials_);
    warn_of_insecurity();
}

void NetworkSide::stop() {
    insecurity_.cancel();
    if (finder_) finder_->stop();
    for (const int door : std::exchange(doors_, {}))
        parts_.descriptors.remove(door);
    if (network_) network_->stop();
}

void NetworkSide::set_credentials(std::shared_ptr<const transport::TlsCredentials> credentials) {
    credentials_ = credentials;
    if (finder_) finder_->set_credentials(credentials);
    if (network_) network_->set_credentials(std::move(credentials));
}

void NetworkSide::leader_changed(bool has_leader) {
    to_call_.set_has_leader(has_leader);
    connect_to_peers();
}

std::string NetworkSide::listening_at() const {
    return network_ ? network_->listening_at() : std::string{};
}

bool NetworkSide::is_insecure() const {
    return network_ && !credentials_ && network_->is_reachable_from_outside();
}

void NetworkSide::add_counters(Metrics& to) const {
    if (!network_) return;
    const auto network = network_->counters();
    to.handshakes_failed += network.handshakes_failed;
    to.messages_sent += network.messages_sent;
    to.messages_received += network.messages_received;
    to.messages_refused +=
        network.malformed_messages + network.malformed_frames + network.forbidden_messages;
    to.messages_dropped += network.messages_dropped;
    to.connections_refused +=
        network.strangers_refused + network.refused.all() + network.strangers_timed_out;
}

// --- from the driver ---------------------------------------------------------------------------

void NetworkSide::send(core::NodeId to, core::PeerMessage message) {
    if (network_) network_->send(to, std::move(message));
}

void NetworkSide::flush() {
    if (network_) network_->flush();
    stage(Stage::sent);
}

void NetworkSide::set_peers(const std::vector<core::Member>& peers) {
    to_call_.name(peers);
    connect_to_peers();
}

void NetworkSide::disconnect(core::NodeId peer) {
    if (network_) network_->disconnect(peer);
}

void NetworkSide::notify(core::ClientId client, const core::ClientNotice& notice) {
    if (const auto connection = parts_.desk.connection_of(client)) connection->send(notice);
}

void NetworkSide::disconnect(core::ClientId client) {
    if (const auto connection = parts_.desk.connection_of(client)) connection->close();
}

void NetworkSide::hang_up(core::ClientId client) {
    if (const auto connection = parts_.desk.connection_of(client)) connection->hang_up();
}

void NetworkSide::pace(const core::ClientFlow::Change& change) {
    const auto connection = parts_.desk.connection_of(change.client);
    if (!connection) return;
    if (change.pause) {
        connection->pause(*change.pause);
    } else {
        connection->resume();
    }
}

void NetworkSide::connect_to_peers() {
    if (!network_) return;
    auto addresses = to_call_.addresses(parts_.core().raft().configuration());
    if (!addresses.empty()) network_->set_peers(std::move(addresses));
}

// --- from the network --------------------------------------------------------------------------

core::Hello NetworkSide::hello() {
    auto hello = parts_.core().hello();
    // Before the node is a member it has no address to announce, unless nobody else knows one: its
    // peers then take it from the hello.
    const auto& advertised = parts_.config.advertise;
    if (finder_ && hello.address.empty()) hello.address = parts_.config.listen;
    if (!advertised.empty() && !hello.address.empty()) hello.address = advertised;
    return hello;
}

void NetworkSide::peer_up(core::Hello peer) {
    if (contacts_.up(peer))
        parts_.events.publish({.kind = NodeEvent::Kind::peer_up, .peer = peer.node.raw()});
    warn_of_timing(peer);
    parts_.step(core::PeerUp{std::move(peer)});
}

void NetworkSide::peer_down(core::NodeId peer) {
    if (contacts_.down(peer, std::time(nullptr)))
        parts_.events.publish({.kind = NodeEvent::Kind::peer_down, .peer = peer.raw()});
    parts_.step(core::PeerDown{peer});
}

void NetworkSide::received(core::NodeId from, core::PeerMessage message) {
    stage(Stage::received);
    parts_.step(core::Received{from, std::move(message)});
}

void NetworkSide::introduced(core::Hello caller) {
    const auto is = to_call_.introduce(caller);
    if (is == PeersToCall::Caller::ignored) return;
    const auto id = std::to_string(caller.node.raw());
    if (is == PeersToCall::Caller::far) {
        parts_.log.info("stranger_not_called",
                        "node " + id + ", which is unknown here, is not called at " +
                            escaped(caller.address) +
                            ": without TLS all members are on this machine",
                        {{"peer", id}, {"address", caller.address}});
        return;
    }
    parts_.log.info("stranger_introduced",
                    "node " + id + ", which is unknown here, says that it is a member, at " +
                        escaped(caller.address),
                    {{"peer", id}, {"address", caller.address}});
    connect_to_peers();
}

// The refusal came from the peer's own address. Its consequences are decided together with what
// other peers say.
void NetworkSide::refused(core::NodeId by, transport::Refusal why) {
    contacts_.refused(by, why, steady_now());
    const bool is_copied = why == transport::Refusal::copied;
    if (is_copied || why == transport::Refusal::stale)
        parts_.step(core::LifeRefused{by, is_copied});
    if (why == transport::Refusal::unknown_node) parts_.step(core::UnknownTo{by});
}

// Only for the operator.
void NetworkSide::unreached(core::NodeId peer, const std::string& why) {
    contacts_.unreached(peer, why);
}

// The cluster works with different times, but an election takes as long as the longest timeout
// requires.
void NetworkSide::warn_of_timing(const core::Hello& peer) {
    const auto differences = contacts_.new_differences(peer, parts_.core().hello().timing);
    if (!differences) return;
    parts_.events.publish(
        {.kind = NodeEvent::Kind::timing_differs, .text = *differences, .peer = peer.node.raw()});
    if (differences->empty()) return;
    const auto id = std::to_string(peer.node.raw());
    parts_.log.warn("timing_differs",
                    "node " + id + " is configured with " + *differences +
                        ": all members of a cluster should have the same",
                    {{"peer", id}, {"timing", *differences}});
}

// Repeated, so that the operator does not forget it.
void NetworkSide::warn_of_insecurity() {
    if (doors_.empty() || !is_insecure()) return;
    parts_.log.warn("insecure",
                    "listens on " + network_->listening_at() +
                        " without TLS (tls.insecure): everybody who reaches it may do everything",
                    {{"address", network_->listening_at()}});
    insecurity_.expires_after(std::chrono::hours{1});
    insecurity_.async_wait([this](std::error_code error) {
        if (!error) warn_of_insecurity();
    });
}

}  // namespace mortise::detail
