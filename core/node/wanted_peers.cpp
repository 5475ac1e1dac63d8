#include "core/node/wanted_peers.hpp"

#include <algorithm>
#include <utility>

namespace mortise::core {

void WantedPeers::expect(NodeId id, const std::string& address, Instant now) {
    const bool is_full = outsiders_.size() >= members_max && !outsiders_.contains(id);
    if (!is_full) keep(id, address, now);
}

void WantedPeers::keep(NodeId id, const std::string& address, Instant now) {
    auto& outsider = outsiders_[id];
    if (outsider.address != address) told_ = {};
    outsider = {address, now + outsiders_for_};
}

std::optional<std::vector<Member>> WantedPeers::take_changed(const Configuration& present, LogId at,
                                                             Instant now) {
    const auto gone =
        std::erase_if(outsiders_, [&](const auto& each) { return now >= each.second.until; });
    if (gone != 0) told_ = {};
    if (!present.is_formed() || told_ == at) return std::nullopt;
    for (const auto& [id, address] : std::exchange(members_told_, {})) {
        if (present.find(id) == nullptr) keep(id, address, now);
    }
    told_ = at;
    std::vector<Member> peers;
    for (const auto id : present.all()) {
        peers.push_back(*present.find(id));
        members_told_[id] = peers.back().address;
    }
    for (const auto& [id, outsider] : outsiders_) {
        if (present.find(id) == nullptr) peers.push_back({id, {}, outsider.address});
    }
    return peers;
}

Instant WantedPeers::deadline() const {
    auto next = Instant::never();
    for (const auto& [id, outsider] : outsiders_)
        next = std::min(next, outsider.until);
    return next;
}

}  // namespace mortise::core
