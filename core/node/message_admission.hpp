// Decides which messages of consensus this node accepts. Only members, known by id and incarnation,
// may claim something; but this node may not know a new leader yet.
#pragma once

#include "core/node/bootstrap.hpp"

namespace mortise::core {

enum class Admission : std::uint8_t {
    admitted,
    refused,
    not_a_member,  // the sender believes that it is a member: it should be informed
};

// The sender must be connected.
[[nodiscard]] Admission judge(NodeId from, const RaftMessage& message, const Raft& raft,
                              const Peers& peers, const Bootstrap& bootstrap);

}  // namespace mortise::core
