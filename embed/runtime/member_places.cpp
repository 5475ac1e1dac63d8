#include "embed/runtime/member_places.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace mortise::detail {

namespace {

constexpr std::size_t places_of_name = 8;
constexpr core::Nanoseconds look_pause = std::chrono::seconds{1};

std::ptrdiff_t count(const std::vector<std::string>& places, const std::string& address) {
    return std::ranges::count(places, address);
}

}  // namespace

std::size_t places_of(const Config& config) {
    return config.peers_from.empty() ? config.peers.size() : places_of_name;
}

void spread(std::vector<std::string>& places, const std::vector<std::string>& addresses) {
    if (addresses.empty()) return;
    const auto is_listed = [&](const std::string& address) {
        return std::ranges::find(addresses, address) != addresses.end();
    };
    const auto fewest = [&] {
        return *std::ranges::min_element(
            addresses, {}, [&](const std::string& address) { return count(places, address); });
    };
    for (auto& place : places) {
        if (!is_listed(place)) place.clear();
    }
    for (auto& place : places) {
        if (place.empty()) place = fewest();
    }
    // An address that came later takes a place of one that has several.
    for (auto& place : places) {
        if (const auto least = fewest(); count(places, place) > count(places, least) + 1)
            place = least;
    }
}

MemberPlaces::MemberPlaces(asio::io_context& io, const Config& config, NodeLog& log,
                           std::function<void()> changed)
    : finds_{!config.peers_from.empty()}, changed_{std::move(changed)}, lookup_{io, config, log} {
    for (const auto& peer : config.peers)
        places_.push_back(peer.address);
    // Until its addresses are known, the name stands for each of them.
    if (finds_) places_.assign(places_of(config), lookup_.name());
}

bool MemberPlaces::has(const std::string& address) const {
    return std::ranges::find(places_, address) != places_.end();
}

void MemberPlaces::look_up(core::Instant now) {
    if (!finds_ || now < next_) return;
    next_ = now + look_pause;
    lookup_.begin([this](const std::vector<std::string>& addresses) {
        const auto former = places_;
        spread(places_, addresses);
        if (places_ != former) changed_();
    });
}

}  // namespace mortise::detail
