// Clients: which of them get a place, and which are closed in favour of others.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

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

// Who uses the connection: with TLS whoever has the certificate, otherwise the machine.
std::string user_of(const InboundConnection& inbound) {
    if (const auto* identity = inbound.identity()) return identity->name();
    return source_of(inbound.from());
}

// A client node always waits for something to hear, also one that is not served.
bool waits(const InboundConnection& inbound) {
    return inbound.waits() && !inbound.client_node().is_set();
}

}  // namespace

// If the connections of all clients together are too many, perhaps because of an attacker that
// wants to exclude others, a new client still gets in. A client node that is served has a session
// to lose, and its place is its own (docs/decisions/0066). Of the others the one is closed that has
// been idle for longest among those of whoever has the most. A client that waits for an answer is
// not idle; few can wait, because changes and listings are limited.
InboundConnection* PeerNetwork::Impl::client_to_close() const {
    std::map<std::string, std::vector<InboundConnection*>> crowds;
    for (const auto& [inbound, owned] : inbound_) {
        const bool may_go = inbound->is_client() && !clients_->has_place(inbound->client_node());
        if (may_go) crowds[user_of(*inbound)].push_back(inbound);
    }
    const auto largest =
        std::ranges::max_element(crowds, {}, [](const auto& crowd) { return crowd.second.size(); });
    if (largest == crowds.end()) return nullptr;
    return *std::ranges::min_element(largest->second, {}, [](const InboundConnection* inbound) {
        return std::pair{waits(*inbound), inbound->heard_at()};
    });
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
