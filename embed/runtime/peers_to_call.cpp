#include "embed/runtime/peers_to_call.hpp"

#include <algorithm>

#include "embed/config/host_port.hpp"

namespace mortise::detail {

namespace {

constexpr std::size_t introduced_max = 16;

// With a name, all that is known at first of the voters that form the cluster.
std::vector<PeerConfig> founders_of(const Config& config) {
    std::vector<PeerConfig> founders;
    for (NodeId id = 1; id <= config.expect; ++id)
        founders.push_back({id, {}});
    return founders;
}

// The file may give a member another address than the one of the bootstrap; that is not a move.
std::optional<std::string> moved_to(core::NodeId id, const core::Configuration& present) {
    const auto founding = present.founding();
    const auto* const now = present.find(id);
    const auto* const then = founding.find(id);
    if (now == nullptr || then == nullptr || now->address == then->address) return std::nullopt;
    return now->address;
}

}  // namespace

PeersToCall::PeersToCall(const Config& config)
    : config_{config}, listed_{config.peers_from.empty() ? config.peers : founders_of(config)} {}

void PeersToCall::found(const std::map<core::NodeId, std::string>& addresses) {
    listed_ = founders_of(config_);
    for (const auto& [id, address] : addresses) {
        const auto known = std::ranges::find(listed_, id.raw(), &PeerConfig::id);
        if (known != listed_.end()) {
            known->address = address;
        } else {
            listed_.push_back({id.raw(), address});
        }
    }
    has_found_ = has_found_ || !addresses.empty();
}

void PeersToCall::name(const std::vector<core::Member>& peers) {
    peers_ = peers;
    introduced_.clear();
}

PeersToCall::Caller PeersToCall::introduce(const core::Hello& caller) {
    const bool is_known = introduced_.contains(caller.node);
    const auto address = parse_host_port(caller.address);
    if (caller.is_empty() || !address || is_known || introduced_.size() >= introduced_max)
        return Caller::ignored;
    if (dials_loopback_only() && is_numeric(*address) && !is_loopback(*address)) return Caller::far;
    introduced_.emplace(caller.node, caller.address);
    return Caller::added;
}

std::vector<transport::PeerAddress> PeersToCall::addresses(
    const core::Configuration& present) const {
    if (peers_.empty() && introduced_.empty() && !has_found_) return {};
    auto addresses = config_.peers_from.empty() ? of_file(present) : of_name(present);
    const auto add = [&](core::NodeId id, const std::string& address, bool loopback_only) {
        const bool has =
            std::ranges::find(addresses, id, &transport::PeerAddress::id) != addresses.end();
        if (!has) addresses.push_back({id, address, loopback_only});
    };
    for (const auto& peer : peers_)
        add(peer.id, peer.address, false);
    for (const auto& [id, address] : introduced_)
        add(id, address, dials_loopback_only());
    for (auto& peer : addresses)
        peer.is_member = is_member(peer.id, present);
    return addresses;
}

// Addresses of the file have priority over those of the log, because a person wrote them for this
// node. A member that was moved since the bootstrap is tried at both.
std::vector<transport::PeerAddress> PeersToCall::of_file(const core::Configuration& present) const {
    std::vector<transport::PeerAddress> addresses;
    for (const auto& peer : listed_) {
        const core::NodeId id{peer.id};
        const auto moved = moved_to(id, present);
        if (moved && *moved != peer.address) {
            addresses.push_back({id, *moved, dials_loopback_only(), peer.address});
        } else if (is_peer(id) || !has_leader_) {
            addresses.push_back({id, peer.address});
        }
    }
    return addresses;
}

// What was found is newer than the log. Where that is wrong, the address in the log may be right.
std::vector<transport::PeerAddress> PeersToCall::of_name(const core::Configuration& present) const {
    std::vector<transport::PeerAddress> addresses;
    for (const auto& peer : listed_) {
        const core::NodeId id{peer.id};
        const auto named = std::ranges::find(peers_, id, &core::Member::id);
        const auto in_log = named != peers_.end() ? named->address : std::string{};
        const bool is_known = !peer.address.empty() || !in_log.empty() || !present.is_formed();
        if (!is_known || (has_leader_ && named == peers_.end())) continue;
        const bool differs = !peer.address.empty() && in_log != peer.address;
        addresses.push_back({id, peer.address.empty() ? in_log : peer.address,
                             dials_loopback_only(), differs ? in_log : std::string{}});
    }
    return addresses;
}

bool PeersToCall::is_peer(core::NodeId id) const {
    return std::ranges::find(peers_, id, &core::Member::id) != peers_.end();
}

// Before the cluster is formed, those in the file are the members to be.
bool PeersToCall::is_member(core::NodeId id, const core::Configuration& present) const {
    return present.is_formed() ? present.find(id) != nullptr : !introduced_.contains(id);
}

bool PeersToCall::dials_loopback_only() const {
    return !config_.tls.is_set() && !config_.tls.insecure;
}

}  // namespace mortise::detail
