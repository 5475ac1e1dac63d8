#include "embed/runtime/found_peers.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace mortise::detail {

namespace {

constexpr core::Nanoseconds ask_pause = std::chrono::seconds{1};

}  // namespace

void FoundPeers::resolved(const std::vector<std::string>& addresses) {
    if (addresses.empty()) return;
    std::erase_if(places_, [&](const auto& each) {
        return std::ranges::find(addresses, each.first) == addresses.end();
    });
    for (const auto& address : addresses) {
        if (places_.size() < addresses_max) places_.try_emplace(address);
    }
}

std::vector<std::string> FoundPeers::take_due(core::Instant now, const IsOpen& is_open) {
    std::vector<std::string> due;
    for (auto& [address, place] : places_) {
        const bool is_needed = !place.node || is_open(*place.node);
        if (!is_needed || place.is_asked || now < place.ask_at) continue;
        place.is_asked = true;
        place.ask_at = now + ask_pause;
        due.push_back(address);
    }
    return due;
}

void FoundPeers::answered(const Node& node) {
    const auto place = places_.find(node.address);
    if (place == places_.end()) return;  // the name has it no more
    place->second.is_asked = false;
    place->second.node = node;
    if (newest_.size() < addresses_max || newest_.contains(node.id))
        newest_.insert_or_assign(node.id, node.address);
}

void FoundPeers::failed(const std::string& address) {
    const auto place = places_.find(address);
    if (place == places_.end()) return;
    place->second.is_asked = false;
    place->second.node.reset();
}

std::optional<std::pair<FoundPeers::Node, FoundPeers::Node>> FoundPeers::namesakes(
    core::NodeId id) const {
    std::optional<Node> first;
    for (const auto& node : nodes()) {
        if (node.id != id || !node.hello) continue;
        if (!first) {
            first = node;
        } else if (first->hello->generation.incarnation != node.hello->generation.incarnation) {
            return std::pair{*first, node};
        }
    }
    return std::nullopt;
}

FoundPeers::Addresses FoundPeers::unambiguous() const {
    auto addresses = newest_;
    std::erase_if(addresses,
                  [this](const auto& each) { return namesakes(each.first).has_value(); });
    return addresses;
}

std::vector<FoundPeers::Node> FoundPeers::nodes() const {
    std::vector<Node> nodes;
    for (const auto& [address, place] : places_) {
        if (place.node) nodes.push_back(*place.node);
    }
    return nodes;
}

std::string FoundPeers::ambiguity() const {
    for (const auto& [id, address] : newest_) {
        if (const auto both = namesakes(id))
            return both->first.address + " and " + both->second.address + " are both node " +
                   std::to_string(id.raw());
    }
    return {};
}

}  // namespace mortise::detail
