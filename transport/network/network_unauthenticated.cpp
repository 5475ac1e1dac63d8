// Unauthenticated connections: inbound connections that have not said a valid hello yet. Their
// number is limited (P11).
#include <memory>
#include <utility>

#include "transport/network/network_impl.hpp"
#include "transport/sockets/clock.hpp"

namespace mortise::transport {

// The new connection may be that of a peer, and a peer says hello at once. So when there are too
// many unauthenticated connections, the oldest is closed. On the loopback network all have one
// address, so the limit per address does not apply.
Visitor* PeerNetwork::Impl::stranger_to_close_for(const asio::ip::address& from) const {
    std::size_t all = 0;
    std::size_t here = 0;
    Visitor* oldest = nullptr;
    Visitor* oldest_here = nullptr;
    const auto take_older = [](Visitor*& oldest_yet, Visitor* visitor) {
        if (oldest_yet == nullptr || visitor->since() < oldest_yet->since()) oldest_yet = visitor;
    };
    for (const auto& [visitor, owned] : visitors_) {
        if (!visitor->is_stranger()) continue;
        ++all;
        take_older(oldest, visitor);
        if (!is_same_source(visitor->from(), from)) continue;
        ++here;
        take_older(oldest_here, visitor);
    }
    const auto& limits = options_.limits;
    const bool crowd_here = !from.is_loopback() && here >= limits.strangers_per_address_max;
    if (all < limits.strangers_max && !crowd_here) return nullptr;
    return oldest_here != nullptr ? oldest_here : oldest;
}

void PeerNetwork::Impl::accept(Socket socket, const asio::ip::address& from) {
    if (stopped_) return;
    loop_.run([&] {
        if (auto* const stranger = stranger_to_close_for(from)) {
            ++counters_.strangers_refused;
            left(*stranger);
        }
        auto visitor = std::make_shared<Visitor>(std::move(socket), from, *this, steady_now());
        visitors_.emplace(visitor.get(), visitor);
        if (!credentials_) return visitor->open();
        unsecured_.push_back(visitor);
        begin_handshakes();
    });
}

}  // namespace mortise::transport
