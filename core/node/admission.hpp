// Which messages of consensus this node listens to. Claims count only from members, by id and
// incarnation; but a leader may be unknown to this node.
#pragma once

#include "core/node/bootstrap.hpp"

namespace mortise::core {

enum class Admission : std::uint8_t {
    admitted,
    refused,
    // The sender believes that it is a member, and is not: it is to be told.
    stranger,
};

// The sender must be connected.
[[nodiscard]] Admission judge(NodeId from, const RaftMessage& message, const Raft& raft,
                              const Peers& peers, const Bootstrap& bootstrap);

}  // namespace mortise::core
