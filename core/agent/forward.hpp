// The request of a node's agent to the leader.
#pragma once

#include <optional>

#include "core/base/bytes.hpp"
#include "core/locks/command.hpp"

namespace mortise::core {

// Travels to the leader. It has no answer: the node sees its commands applied, or sends them again.
struct Forward {
    // Requests of one session (codec/command_codec), numbered without gaps, and commands that
    // concern the session itself. The requests of the next batch to the same leader follow those of
    // this batch, or are resent (docs/decisions/0039).
    Bytes batch;
    std::optional<Renewal> renewal;

    [[nodiscard]] bool is_empty() const { return batch.empty() && !renewal.has_value(); }
};

}  // namespace mortise::core
