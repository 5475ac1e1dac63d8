// Clients: who gets a place, and who gives up his for others.
#include <map>

#include "transport/clock.hpp"
#include "transport/member_server.hpp"
#include "transport/network_impl.hpp"

namespace mortise::transport {
namespace {

FrameLimits client_limits() {
    return {client_frame_words_max,
            UINT64_MAX,
            unread_bytes_paused,
            {.questions_max = questions_max, .words_max = question_words_max}};
}

}  // namespace

// All places are taken, perhaps by somebody who wants to keep others out. So a newcomer always gets
// one: from the address that has the most, the client that has been quiet for longest. One that
// waits for an answer is not quiet; few can, for changes and lists are bounded.
Visitor* PeerNetwork::Impl::client_in_the_way() const {
    std::map<asio::ip::address, std::size_t> places;
    for (const auto& [visitor, owned] : visitors_)
        if (visitor->is_client()) ++places[visitor->from()];
    Visitor* chosen = nullptr;
    const auto goes_before = [&](const Visitor& one, const Visitor& other) {
        const auto here = places[one.from()];
        const auto there = places[other.from()];
        if (here != there) return here > there;
        if (one.waits() != other.waits()) return other.waits();
        return one.heard_at() < other.heard_at();
    };
    for (const auto& [visitor, owned] : visitors_) {
        if (!visitor->is_client()) continue;
        if (chosen == nullptr || goes_before(*visitor, *chosen)) chosen = visitor;
    }
    return chosen;
}

Admittance PeerNetwork::Impl::admit_client(Visitor& visitor) {
    if (clients_ == nullptr) return refuse(Refusal::no_service);
    if (counters().clients >= options_.limits.clients_max) {
        auto* const quietest = client_in_the_way();
        if (quietest == nullptr) return refuse(Refusal::busy);
        ++counters_.strangers_refused;
        left(*quietest);
    }
    visitor.become_client(client_limits());
    Admittance admittance;
    admittance.ours.purpose = Purpose::client;
    admittance.ours.hello = events_.hello();
    admittance.member = make_member(visitor.weak_from_this(), loop_, *clients_, lists_);
    return admittance;
}

// Each client may have some answers that it did not read; but all of them together would have more
// than a library may take of its program.
void PeerNetwork::Impl::make_room() {
    while (auto* const slowest = slowest_client()) {
        ++counters_.stuck_frames;
        left(*slowest);
    }
}

Visitor* PeerNetwork::Impl::slowest_client() const {
    std::size_t all = 0;
    std::size_t most = 0;
    Visitor* slowest = nullptr;
    for (const auto& [visitor, owned] : visitors_) {
        if (!visitor->is_client()) continue;
        const auto unread = visitor->unsent_bytes();
        all += unread;
        if (unread <= most) continue;
        most = unread;
        slowest = visitor;
    }
    return all > all_unread_bytes_max ? slowest : nullptr;
}

void PeerNetwork::Impl::forbidden(const std::string& who, const char* cause) {
    ++counters_.forbidden_messages;
    if (!notices_.may_say(who, cause, steady_now())) return;
    log(LogLevel::warning, "closed the connection to " + who + ": " + cause);
}

}  // namespace mortise::transport
