// The hellos of both sides, and the decision whether the connection continues.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include "core/access/identity.hpp"
#include "core/node/hello.hpp"

namespace mortise::transport {

constexpr std::uint16_t protocol_lowest = 1;
constexpr std::uint16_t protocol_highest = 1;
constexpr std::uint64_t features_needed = 0;

// The purpose of a connection, which never changes.
enum class Purpose : std::uint8_t { replication, forwarding, client };

// The purposes between peers; each has its own connection, so that neither delays the other.
enum class Lane : std::uint8_t { replication, forwarding };

constexpr Purpose purpose_of(Lane lane) {
    return lane == Lane::replication ? Purpose::replication : Purpose::forwarding;
}
// Empty if it is not a connection between peers.
constexpr std::optional<Lane> lane_of(Purpose purpose) {
    if (purpose == Purpose::client) return std::nullopt;
    return purpose == Purpose::replication ? Lane::replication : Lane::forwarding;
}

struct Greeting {
    std::uint16_t lowest = protocol_lowest;
    std::uint16_t highest = protocol_highest;
    std::uint64_t features = features_needed;
    Purpose purpose = Purpose::replication;
    core::Hello hello;  // of a client: only the cluster is set, if it knows one

    friend bool operator==(const Greeting&, const Greeting&) = default;
};

enum class Refusal : std::uint8_t {
    unspecified,
    malformed,
    protocol,
    wrong_cluster,
    unknown_node,
    wrong_node,
    stale,
    busy,
    stopping,
    no_service,
    copied,
    identity,
    cluster_name,
    id_in_use,
};
constexpr std::size_t refusals = static_cast<std::size_t>(Refusal::id_in_use) + 1;

// One sentence for a person; it names nothing of this node.
[[nodiscard]] std::string_view to_string(Refusal refusal);

[[nodiscard]] const std::error_category& refusal_category();
[[nodiscard]] std::error_code make_error_code(Refusal refusal);

// Whether a caller is accepted. `known` are the nodes that may call, in any order.
[[nodiscard]] std::optional<Refusal> judge_caller(const Greeting& caller, const core::Hello& ours,
                                                  const std::vector<core::NodeId>& known);
// Whether the certificate is that of the node which the hello names, or of a client of this
// cluster. `members` includes this node. A client with the certificate of a node that is not a
// member is refused, although such a node may be a peer: it may have been removed.
[[nodiscard]] std::optional<Refusal> judge_identity(const core::Identity& proven,
                                                    const Greeting& caller,
                                                    std::string_view cluster,
                                                    const std::vector<core::NodeId>& members);
// Whether the node that answered at the address of `expected` is accepted.
[[nodiscard]] std::optional<Refusal> judge_answer(const Greeting& answer, const core::Hello& ours,
                                                  core::NodeId expected);

// The version that both support; empty if there is none.
[[nodiscard]] std::optional<std::uint16_t> common_protocol(const Greeting& theirs);

}  // namespace mortise::transport

template <>
struct std::is_error_code_enum<mortise::transport::Refusal> : std::true_type {};
