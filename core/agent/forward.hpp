// What a node's agent asks of the leader.
#pragma once

#include <optional>

#include "core/base/bytes.hpp"
#include "core/locks/command.hpp"

namespace mortise::core {

// On its way to the leader. It is not answered: the node sees it applied, or sends it again.
struct Forward {
    // Requests of one session (codec/command_codec), numbered without a gap, and what concerns the
    // session as such. The requests of the next batch to the same leader follow those of this one,
    // or are sent again (docs/decisions/0039).
    Bytes batch;
    std::optional<Renewal> renewal;

    [[nodiscard]] bool is_empty() const { return batch.empty() && !renewal.has_value(); }
};

}  // namespace mortise::core
