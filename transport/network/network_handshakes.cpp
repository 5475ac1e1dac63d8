// TLS: the handshakes of inbound connections, and changes of credentials.
#include <tuple>
#include <utility>

#include <asio/post.hpp>

#include "transport/network/network_impl.hpp"
#include "transport/sockets/clock.hpp"

namespace mortise::transport {

// A handshake costs a signature and the check of a chain. Many inbound handshakes must not keep the
// thread from its work.
void PeerNetwork::Impl::begin_handshakes() {
    const auto now = steady_now();
    while (handshakes_.has_one(now)) {
        auto* const next = next_handshake();
        if (next == nullptr) return;
        std::ignore = handshakes_.take(now);
        turns_.took(next->from());
        next->secure(credentials_,
                     [this, next](const core::Error& error) { handshake_failed(*next, error); });
    }
}

// The source whose last turn is the longest ago comes first, so one that floods does not keep the
// others out. Of its connections the newest comes first: under load the oldest ones are closed, so
// an honest new connection gets its turn before that.
InboundConnection* PeerNetwork::Impl::next_handshake() const {
    InboundConnection* next = nullptr;
    std::size_t last = 0;
    for (const auto& [inbound, owned] : inbound_) {
        if (!inbound->is_waiting()) continue;
        const auto its_last = turns_.last_of(inbound->from());
        const bool is_earlier = next == nullptr || its_last < last ||
                                (its_last == last && inbound->since() > next->since());
        if (!is_earlier) continue;
        next = inbound;
        last = its_last;
    }
    return next;
}

void PeerNetwork::Impl::handshake_failed(InboundConnection& inbound, const core::Error& error) {
    ++counters_.handshakes_failed;
    const auto from = inbound.from().to_string();
    if (notices_.may_say(from, error.what, steady_now()))
        log(LogLevel::warning, "refused a connection from " + from + ": " + error.what);
    loop_.run([&] { left(inbound); });
}

void PeerNetwork::Impl::set_credentials(std::shared_ptr<const TlsCredentials> credentials) {
    asio::post(loop_.io(), [self = weak_from_this(), credentials = std::move(credentials)] {
        const auto alive = self.lock();
        if (!alive || alive->stopped_) return;
        alive->credentials_ = credentials;
        alive->close_unbelieved();
    });
}

// An authority that was removed from the file is not trusted any more, also for existing
// connections.
void PeerNetwork::Impl::close_unbelieved() {
    const auto is_believed = [&](const PeerCertificate* peer, bool is_of_server) {
        return !peer || credentials_->verify(*peer, is_of_server);
    };
    std::vector<std::shared_ptr<InboundConnection>> unbelieved;
    for (const auto& [inbound, owned] : inbound_)
        if (!is_believed(inbound->certificate(), false)) unbelieved.push_back(owned);
    loop_.run([&] {
        for (const auto& inbound : unbelieved)
            left(*inbound);
        for (const auto& link : links_)
            if (!is_believed(link->certificate(), true)) link->lose();
    });
}

}  // namespace mortise::transport
