// Unauthenticated connections: inbound connections that have not said a valid hello yet. Their
// number is limited (P11).
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "transport/network/network_impl.hpp"
#include "transport/sockets/clock.hpp"

namespace mortise::transport {

namespace {

// The unauthenticated connections from one source.
struct Crowd {
    InboundConnection* oldest = nullptr;
    std::size_t size = 0;
};

void add_to(std::vector<Crowd>& crowds, InboundConnection& inbound) {
    const auto its = std::ranges::find_if(crowds, [&](const Crowd& crowd) {
        return is_same_source(crowd.oldest->from(), inbound.from());
    });
    if (its == crowds.end()) {
        crowds.push_back({&inbound, 1});
        return;
    }
    ++its->size;
    if (inbound.since() < its->oldest->since()) its->oldest = &inbound;
}

}  // namespace

// The new connection may be that of a peer, and a peer says hello at once. So when there are too
// many unauthenticated connections, the oldest is closed of those from the source that has most:
// a flood closes its own. On the loopback network all have one address, so the limit per address
// does not apply.
InboundConnection* PeerNetwork::Impl::stranger_to_close_for(const asio::ip::address& from) const {
    std::vector<Crowd> crowds;
    std::size_t all = 0;
    for (const auto& [inbound, owned] : inbound_) {
        if (!inbound->is_stranger()) continue;
        ++all;
        add_to(crowds, *inbound);
    }
    const auto here = std::ranges::find_if(
        crowds, [&](const Crowd& crowd) { return is_same_source(crowd.oldest->from(), from); });
    const auto& limits = options_.limits;
    if (here != crowds.end() && !from.is_loopback() &&
        here->size >= limits.strangers_per_address_max)
        return here->oldest;
    if (all < limits.strangers_max) return nullptr;
    return std::ranges::max_element(crowds, {}, &Crowd::size)->oldest;
}

void PeerNetwork::Impl::accept(Socket socket, const asio::ip::address& from) {
    if (stopped_) return;
    loop_.run([&] {
        if (auto* const stranger = stranger_to_close_for(from)) {
            ++counters_.strangers_refused;
            left(*stranger);
        }
        auto inbound =
            std::make_shared<InboundConnection>(std::move(socket), from, *this, steady_now());
        inbound_.emplace(inbound.get(), inbound);
        if (!credentials_) return inbound->open();
        begin_handshakes();
    });
}

}  // namespace mortise::transport
