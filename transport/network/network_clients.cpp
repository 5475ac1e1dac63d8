// Clients: which of them get a place, and which are closed in favour of others.
#include <map>

#include "transport/clients/member_server.hpp"
#include "transport/network/network_impl.hpp"
#include "transport/sockets/clock.hpp"

namespace mortise::transport {
namespace {

FrameLimits client_limits() {
    return {.words_max = client_frame_words_max,
            .unsent_bytes_max = unread_bytes_paused,
            .rpc = {.questions_max = questions_max, .words_max = question_words_max}};
}

}  // namespace

// If all places are occupied, perhaps by an attacker that wants to exclude others, a new client
// still gets a place: that of the client which has been idle for longest among those of the address
// with the most clients. A client that waits for an answer is not idle; few can wait, because
// changes and listings are limited.
InboundConnection* PeerNetwork::Impl::client_to_close() const {
    std::map<asio::ip::address, std::size_t> places;
    for (const auto& [inbound, owned] : inbound_)
        if (inbound->is_client()) ++places[inbound->from()];
    InboundConnection* chosen = nullptr;
    const auto goes_before = [&](const InboundConnection& one, const InboundConnection& other) {
        const auto here = places[one.from()];
        const auto there = places[other.from()];
        if (here != there) return here > there;
        if (one.waits() != other.waits()) return other.waits();
        return one.heard_at() < other.heard_at();
    };
    for (const auto& [inbound, owned] : inbound_) {
        if (!inbound->is_client()) continue;
        if (chosen == nullptr || goes_before(*inbound, *chosen)) chosen = inbound;
    }
    return chosen;
}

Admittance PeerNetwork::Impl::admit_client(InboundConnection& inbound) {
    if (clients_ == nullptr) return refuse(Refusal::no_service);
    if (counters().clients >= options_.limits.clients_max) {
        auto* const quietest = client_to_close();
        if (quietest == nullptr) return refuse(Refusal::busy);
        ++counters_.strangers_refused;
        left(*quietest);
    }
    inbound.become_client(client_limits());
    Admittance admittance;
    admittance.ours.purpose = Purpose::client;
    admittance.ours.hello = events_.hello();
    admittance.member = make_member(inbound.weak_from_this(), loop_, *clients_, lists_);
    return admittance;
}

// Each client may have a few unread answers, but all of them together could exceed the memory that
// a library may take from its program.
void PeerNetwork::Impl::make_room() {
    while (auto* const slowest =
               client_above(all_unread_bytes_max, &InboundConnection::unsent_bytes)) {
        ++counters_.stuck_frames;
        left(*slowest);
    }
}

// The same for notices that client nodes have not heard.
void PeerNetwork::Impl::keeps(InboundConnection& inbound, std::size_t before) {
    kept_bytes_ += inbound.kept_bytes() - before;
    while (kept_bytes_ > all_unheard_bytes_max) {
        auto* const slowest = client_above(all_unheard_bytes_max, &InboundConnection::kept_bytes);
        if (slowest == nullptr) return;
        ++counters_.stuck_frames;
        left(*slowest);
    }
}

// The client with the most, if all clients together have more.
InboundConnection* PeerNetwork::Impl::client_above(std::size_t all_max, BytesOf bytes_of) const {
    std::size_t all = 0;
    std::size_t most = 0;
    InboundConnection* chosen = nullptr;
    for (const auto& [inbound, owned] : inbound_) {
        if (!inbound->is_client()) continue;
        const auto bytes = (inbound->*bytes_of)();
        all += bytes;
        if (bytes <= most) continue;
        most = bytes;
        chosen = inbound;
    }
    return all > all_max ? chosen : nullptr;
}

void PeerNetwork::Impl::forbidden(const std::string& who, const char* cause) {
    ++counters_.forbidden_messages;
    if (!notices_.may_say(who, cause, steady_now())) return;
    log(LogLevel::warning, "closed the connection to " + who + ": " + cause);
}

}  // namespace mortise::transport
