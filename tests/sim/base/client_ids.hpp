// Client nodes have no id. The judges know them under ids that no member has.
#pragma once

#include <string>

#include "core/base/ids.hpp"

namespace mortise::sim {

constexpr std::uint64_t first_client = 1'001;

[[nodiscard]] inline bool is_client(core::NodeId node) {
    return node.raw() >= first_client;
}
// As the log and the outcomes have it.
[[nodiscard]] inline core::NodeId node_in_log(core::NodeId node) {
    return is_client(node) ? core::NodeId{} : node;
}

// What its sessions say of themselves.
[[nodiscard]] inline std::string host_of(core::NodeId node_in_log) {
    return "host" + std::to_string(node_in_log.raw());
}

}  // namespace mortise::sim
