#include "transport/network/peer_network.hpp"

#include <utility>

#include "transport/network/network_impl.hpp"

namespace mortise::transport {

PeerNetwork::PeerNetwork(asio::io_context& io, NetworkOptions options, NetworkEvents& events,
                         ClientService* clients)
    : impl_{std::make_shared<Impl>(io, std::move(options), events, clients)} {}

PeerNetwork::~PeerNetwork() {
    impl_->stop();
}

core::Result<void> PeerNetwork::listen() {
    return impl_->listen();
}

void PeerNetwork::start() {
    impl_->start();
}

void PeerNetwork::set_peers(std::vector<PeerAddress> peers) {
    impl_->set_peers(std::move(peers));
}

void PeerNetwork::disconnect(core::NodeId peer) {
    impl_->disconnect(peer);
}

void PeerNetwork::send(core::NodeId to, core::PeerMessage message) {
    impl_->send(to, std::move(message));
}

void PeerNetwork::flush() {
    impl_->flush();
}

void PeerNetwork::set_credentials(std::shared_ptr<const TlsCredentials> credentials) {
    impl_->set_credentials(std::move(credentials));
}

void PeerNetwork::stop() {
    impl_->stop();
}

std::string PeerNetwork::listening_at() const {
    return impl_->listening_at();
}

std::vector<int> PeerNetwork::descriptors() const {
    return impl_->descriptors();
}

bool PeerNetwork::is_reachable_from_outside() const {
    return impl_->is_reachable_from_outside();
}

NetworkCounters PeerNetwork::counters() const {
    return impl_->counters();
}

}  // namespace mortise::transport
