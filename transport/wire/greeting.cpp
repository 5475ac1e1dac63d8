#include "transport/wire/greeting.hpp"

#include <algorithm>
#include <string>

namespace mortise::transport {

namespace {

class RefusalCategory final : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "mortise.refusal"; }
    [[nodiscard]] std::string message(int code) const override {
        return std::string{to_string(static_cast<Refusal>(code - 1))};
    }
};

// If only one of the two belongs to a cluster, the other may still join it.
bool clusters_agree(const core::ClusterId& a, const core::ClusterId& b) {
    return !a.is_set() || !b.is_set() || a == b;
}

// A client sends no name, and accepts any.
bool names_agree(const std::string& a, const std::string& b) {
    return a.empty() || b.empty() || a == b;
}

std::optional<Refusal> judge(const Greeting& theirs, const core::Hello& ours) {
    if (!common_protocol(theirs)) return Refusal::protocol;
    // The features that each side requires of the other.
    if (theirs.features != features_needed) return Refusal::protocol;
    if (!clusters_agree(theirs.hello.cluster, ours.cluster)) return Refusal::wrong_cluster;
    if (!names_agree(theirs.hello.cluster_name, ours.cluster_name)) return Refusal::cluster_name;
    return std::nullopt;
}

}  // namespace

std::string_view to_string(Refusal refusal) {
    switch (refusal) {
        case Refusal::unspecified: return "refused, for a reason this version does not know";
        case Refusal::malformed: return "the hello is malformed";
        case Refusal::protocol: return "there is no protocol version that both sides speak";
        case Refusal::wrong_cluster: return "the two nodes belong to different clusters";
        case Refusal::unknown_node: return "the node is not a member, as far as is known here";
        case Refusal::wrong_node: return "another node than expected is at this address";
        case Refusal::stale: return "a later start of this node was seen";
        case Refusal::busy: return "there are too many connections";
        case Refusal::stopping: return "the node is stopping";
        case Refusal::no_service: return "this purpose is not offered here";
        case Refusal::identity: return "its certificate names another node or another cluster";
        case Refusal::cluster_name:
            return "the two nodes are configured for clusters of different names";
        case Refusal::id_in_use:
            return "another node with this id is connected: every node needs an id and a directory "
                   "of its own";
        case Refusal::copied: return "a copy of this node's directory is in use elsewhere";
    }
    return to_string(Refusal::unspecified);
}

const std::error_category& refusal_category() {
    static const RefusalCategory category;
    return category;
}

std::error_code make_error_code(Refusal refusal) {
    return {static_cast<int>(refusal) + 1, refusal_category()};  // zero would mean success
}

std::optional<std::uint16_t> common_protocol(const Greeting& theirs) {
    const auto lowest = std::max(theirs.lowest, protocol_lowest);
    const auto highest = std::min(theirs.highest, protocol_highest);
    if (lowest > highest) return std::nullopt;
    return highest;
}

std::optional<Refusal> judge_caller(const Greeting& caller, const core::Hello& ours,
                                    const std::vector<core::NodeId>& known) {
    if (const auto refusal = judge(caller, ours)) return refusal;
    if (caller.purpose == Purpose::client) return std::nullopt;
    if (caller.hello.node == ours.node) return Refusal::wrong_node;
    const bool is_known = std::ranges::find(known, caller.hello.node) != known.end();
    return is_known ? std::nullopt : std::optional{Refusal::unknown_node};
}

std::optional<Refusal> judge_identity(const core::Identity& proven, const Greeting& caller,
                                      std::string_view cluster,
                                      const std::vector<core::NodeId>& members) {
    if (proven.cluster != cluster) return Refusal::identity;
    if (caller.purpose == Purpose::client) {
        const bool is_accepted =
            !proven.node.is_set() || std::ranges::find(members, proven.node) != members.end();
        return is_accepted ? std::nullopt : std::optional{Refusal::unknown_node};
    }
    if (proven.node == caller.hello.node) return std::nullopt;
    return Refusal::identity;
}

std::optional<Refusal> judge_answer(const Greeting& answer, const core::Hello& ours,
                                    core::NodeId expected) {
    if (const auto refusal = judge(answer, ours)) return refusal;
    if (answer.hello.node != expected) return Refusal::wrong_node;
    return std::nullopt;
}

}  // namespace mortise::transport
