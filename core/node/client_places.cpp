#include "core/node/client_places.hpp"

#include <algorithm>
#include <tuple>

namespace mortise::core {

namespace {

// In this order they lose their places. Those that work do not.
enum class Standing : std::uint8_t { without_session, silent, silent_with_requests, idle, works };

Standing standing_of(ClientStake stake, bool is_silent) {
    if (stake == ClientStake::nothing) return Standing::without_session;
    if (is_silent)
        return stake == ClientStake::session ? Standing::silent : Standing::silent_with_requests;
    return stake == ClientStake::session ? Standing::idle : Standing::works;
}

Error no_place(std::string what) {
    return {std::make_error_code(std::errc::resource_unavailable_try_again), std::move(what)};
}

}  // namespace

// The others are for other certificates, so that a program that runs wild, or whose certificate was
// stolen, does not keep the rest out.
std::size_t ClientPlaces::of_certificate_max() const {
    return places_ < 2 ? places_ : places_ - std::max<std::size_t>(places_ / 8, 1);
}

bool ClientPlaces::has_its_share(const std::string& certificate) const {
    if (certificate.empty()) return false;
    const auto found = by_certificate_.find(certificate);
    return found != by_certificate_.end() && found->second >= of_certificate_max();
}

Result<ClientPlaces::Given> ClientPlaces::give(const Newcomer& newcomer, Instant now,
                                               const StakeOf& stake_of) {
    if (has(newcomer.client)) return Given{};
    Given given;
    const bool has_share = has_its_share(newcomer.certificate);
    if (has_share || size() >= places_) {
        const auto displaced = least_to_lose(newcomer, has_share, now, stake_of);
        if (!displaced && has_share) {
            return no_place("it serves " +
                            std::to_string(by_certificate_.at(newcomer.certificate)) +
                            " client nodes of " + newcomer.certificate +
                            ", and keeps its other places for other certificates (limits.clients)");
        }
        if (!displaced) {
            return no_place("it serves " + std::to_string(size()) +
                            " client nodes, and has no place for more (limits.clients)");
        }
        free(*displaced);
        given.displaced = *displaced;
    }
    guests_.emplace(newcomer.client, Guest{newcomer.certificate, now, now});
    ++by_certificate_[newcomer.certificate];
    return given;
}

// Among clients of the same standing, that without a session goes which came first: the one that
// came last may be about to open it. Of the others, the one that has been silent for longest goes.
std::optional<ClientId> ClientPlaces::least_to_lose(const Newcomer& newcomer, bool of_its_own,
                                                    Instant now, const StakeOf& stake_of) const {
    using Key = std::tuple<Standing, Instant, ClientId>;
    const auto last =
        newcomer.stake == ClientStake::requests ? Standing::idle : Standing::silent_with_requests;
    std::optional<Key> chosen;
    for (const auto& [client, guest] : guests_) {
        if (of_its_own && guest.certificate != newcomer.certificate) continue;
        const bool is_silent = now - guest.heard_at > client_silence_max;
        const auto standing = standing_of(stake_of(client), is_silent);
        if (standing > last) continue;
        const bool is_new = standing == Standing::without_session;
        const Key key{standing, is_new ? guest.since : guest.heard_at, client};
        if (!chosen || key < *chosen) chosen = key;
    }
    return chosen ? std::optional{std::get<ClientId>(*chosen)} : std::nullopt;
}

void ClientPlaces::heard(ClientId client, Instant now) {
    if (const auto found = guests_.find(client); found != guests_.end())
        found->second.heard_at = now;
}

void ClientPlaces::free(ClientId client) {
    const auto found = guests_.find(client);
    if (found == guests_.end()) return;
    const auto count = by_certificate_.find(found->second.certificate);
    if (--count->second == 0) by_certificate_.erase(count);
    guests_.erase(found);
}

}  // namespace mortise::core
