// Why a node is not ready while it has no leader, in words for its operator.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/instant.hpp"
#include "core/raft/configuration.hpp"

namespace mortise::detail {

// What a voter that belongs to no cluster knows.
struct InNoCluster {
    core::ClusterId former{};     // set: the cluster to which it belonged before it lost its data
    bool names_others = false;    // its configuration names other voters, or a name of them
    bool is_to_be_found = false;  // it is not one of those who form it (Config::expect)
    std::string unlisted_by{};    // the name of the peers, as long as it does not have this node
    core::Nanoseconds founding_pause{};  // otherwise: how long it waits before it forms one alone
    bool peers_have_one = false;         // a connected peer belongs to a cluster
    std::string missing{};               // the peers that are not connected (PeerContacts)
    std::string disagreement{};          // who names other voters (PeerContacts)
};
[[nodiscard]] std::string why_in_no_cluster(const InNoCluster& node);

// What a member that knows no leader knows.
struct WithoutLeader {
    struct Doubts {
        std::vector<core::NodeId> by;
        core::Nanoseconds lasting;
    };
    std::string missing{};            // the peers that are not connected (PeerContacts)
    bool used_up_terms = false;       // no term is left for an election
    bool forgetful = false;           // core::Raft::is_forgetful()
    std::optional<Doubts> doubted{};  // set: others doubt its directory, so it may not campaign
};
// While an era keeps the cluster closed (core::Eras); `left` by this node's own countdown.
[[nodiscard]] std::string why_closed_by_an_era(core::Nanoseconds left);
// Empty if the rest of the status says everything.
[[nodiscard]] std::string why_no_leader(const WithoutLeader& node);

}  // namespace mortise::detail
