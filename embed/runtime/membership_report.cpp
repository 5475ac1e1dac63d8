#include "embed/runtime/membership_report.hpp"

#include <algorithm>
#include <utility>

#include "embed/runtime/translate.hpp"
#include <mortise/enums.hpp>

namespace mortise::detail {

namespace {

// "1, 2, 3; learners 4"
std::string in_words(const core::Configuration& present) {
    std::string voters;
    std::string learners;
    for (const auto id : present.all()) {
        auto& list = present.is_learner(id) ? learners : voters;
        list += (list.empty() ? "" : ", ") + std::to_string(id.raw());
    }
    return "voters " + voters + (learners.empty() ? "" : "; learners " + learners) +
           (present.is_joint() ? "; a change is in progress" : "");
}

}  // namespace

void MembershipReport::begin_with(const core::Configuration& present) {
    members_ = members_of(present);
    text_ = in_words(present);
    durability_ = present.durability;
}

// A node that listens is rarely meant to be alone.
void MembershipReport::formed() {
    if (!config_.peers.empty() || !config_.peers_from.empty() || config_.listen.empty())
        return log_.info("cluster_formed", "the cluster is formed");
    log_.warn("cluster_formed",
              "this node has no peers and formed a cluster of its own: if it belongs to "
              "another cluster, stop it, remove its directory and list the peers");
}

void MembershipReport::changed(const core::Configuration& present) {
    const bool has_other_durability = present.durability != durability_;
    if (has_other_durability) follow_durability(present);
    const auto text = in_words(present);
    const bool has_other_words = std::exchange(text_, text) != text;
    if (has_other_durability && !has_other_words) return;
    log_.info("members_changed", "the members are now " + text, {{"members", text}});
    events_.publish({.kind = NodeEvent::Kind::members_changed, .text = text});
    auto former = std::exchange(members_, members_of(present));
    warn_of_missing_peers();
    if (former.empty()) return;  // the cluster was formed
    for (const auto& [id, address] : members_) {
        if (former.erase(id) != 0) continue;
        events_.publish({.kind = NodeEvent::Kind::member_added, .text = address, .peer = id.raw()});
    }
    for (const auto& [id, address] : former)
        events_.publish({.kind = NodeEvent::Kind::member_removed, .peer = id.raw()});
}

void MembershipReport::follow_durability(const core::Configuration& present) {
    durability_ = present.durability;
    const auto name = to_string(from_core(durability_));
    const bool is_synced = durability_ == core::Durability::synced;
    log_.info("durability_changed",
              "the durability of the cluster is now \"" + std::string{name} +
                  "\": an answer waits for the " + (is_synced ? "disks" : "memories") +
                  " of a majority",
              {{"durability", name}});
}

void MembershipReport::warn_of_missing_peers() {
    const bool lists_others = !config_.peers_from.empty() ||
                              std::ranges::any_of(config_.peers, [&](const PeerConfig& peer) {
                                  return peer.id != config_.own_id();
                              });
    if (config_.role != Role::voter || lists_others || members_.size() < 2) return;
    log_.warn("peers_missing",
              "the configuration of this node lists no other member, and the cluster has " +
                  std::to_string(members_.size()) +
                  ": list all of them, or it may form a cluster of its own if it loses its "
                  "directory");
}

MembershipReport::Members MembershipReport::members_of(const core::Configuration& present) {
    Members members;
    for (const auto id : present.all())
        members.emplace(id, present.find(id)->address);
    return members;
}

}  // namespace mortise::detail
