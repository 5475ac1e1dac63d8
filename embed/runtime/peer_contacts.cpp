#include "embed/runtime/peer_contacts.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "embed/runtime/id_words.hpp"
#include "embed/runtime/timing_words.hpp"
#include "transport/sockets/network_values.hpp"

namespace mortise::detail {

namespace {

// "2026-01-31 13:00:00 UTC"
std::string utc_in_words(std::time_t time) {
    std::tm parts{};
    std::array<char, 32> text{};
    ::gmtime_r(&time, &parts);
    std::strftime(text.data(), text.size(), "%F %T UTC", &parts);
    return text.data();
}

}  // namespace

bool PeerContacts::up(core::Hello peer) {
    const auto id = peer.node;
    absent_.erase(id);
    return connected_.insert_or_assign(id, std::move(peer)).second;
}

bool PeerContacts::down(core::NodeId peer, std::time_t at) {
    if (connected_.erase(peer) == 0) return false;
    absent_[peer].lost_at = at;
    return true;
}

void PeerContacts::refused(core::NodeId by, transport::Refusal why, core::Instant at) {
    absent_[by].refused = Refused{why, at};
}

void PeerContacts::unreached(core::NodeId peer, std::string why) {
    auto& absence = absent_[peer];
    absence.refused.reset();
    absence.unreached = std::move(why);
}

std::optional<std::string> PeerContacts::new_differences(const core::Hello& peer,
                                                         const core::HelloTiming& ours) {
    auto differences = timing_differences(peer.timing, ours);
    auto& known = differences_[peer.node];
    if (known == differences) return std::nullopt;
    known = std::move(differences);
    return known;
}

bool PeerContacts::has_member() const {
    return std::ranges::any_of(connected_,
                               [](const auto& peer) { return !peer.second.is_empty(); });
}

std::string PeerContacts::disagreement(const std::vector<core::NodeId>& ours) const {
    for (const auto& [id, hello] : connected_) {
        if (hello.voters == ours || hello.voters.empty()) continue;
        return "node " + std::to_string(id.raw()) + " names the peers " +
               ids_in_words(hello.voters) + ", and this node " + ids_in_words(ours);
    }
    return {};
}

std::string PeerContacts::missing(const std::vector<PeerConfig>& peers, NodeId self,
                                  core::Instant now) const {
    std::string missing;
    for (const auto& [id, address] : peers) {
        if (id == self || is_up(core::NodeId{id})) continue;
        missing += (missing.empty() ? "" : ", ") + std::to_string(id) + " (" + address +
                   why_missing(core::NodeId{id}, now) + ")";
    }
    return missing;
}

// A peer that refuses is asked repeatedly, so an old refusal does not count.
std::string PeerContacts::why_missing(core::NodeId peer, core::Instant now) const {
    constexpr auto lasts = std::chrono::seconds{30};
    const auto found = absent_.find(peer);
    const auto absence = found == absent_.end() ? Absence{} : found->second;
    const auto since =
        absence.lost_at ? ", lost at " + utc_in_words(*absence.lost_at) : std::string{};
    if (absence.refused && now <= absence.refused->at + lasts)
        return since + ", which refuses: " + in_words(absence.refused->why);
    if (absence.unreached) return since + ": " + *absence.unreached;
    // The first attempt is still under way.
    constexpr auto soon = std::chrono::seconds{1};
    if (now < began_ + soon) return since;
    return since + ": " + std::string{transport::no_answer_in_words};
}

// The refusal, and what the operator can do about it.
std::string PeerContacts::in_words(transport::Refusal refusal) const {
    using transport::Refusal;
    const auto with = [&](const char* advice) {
        return std::string{transport::to_string(refusal)} + ": " + advice;
    };
    switch (refusal) {
        case Refusal::protocol: return with("give both nodes the same version");
        case Refusal::wrong_cluster:
            return with("give this node the directory it had in that cluster, or an empty one");
        case Refusal::unknown_node:
            return with(finds_peers_
                            ? "the leader adds this node when it finds it with an empty directory"
                            : "list this node among its peers, or add it with mortise members add");
        case Refusal::wrong_node: return with("correct the address");
        case Refusal::identity: return with("issue a certificate for this node");
        case Refusal::cluster_name: return with("correct cluster in one of their files");
        case Refusal::copied: return with("stop that node, or remove this directory");
        default: return std::string{transport::to_string(refusal)};  // it says enough
    }
}

}  // namespace mortise::detail
