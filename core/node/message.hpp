// Everything one peer sends another.
#pragma once

#include <optional>
#include <variant>

#include "core/locks/command.hpp"
#include "core/raft/message.hpp"

namespace mortise::core {

// The founding entry, for an empty node that it names (S47).
struct FormationOffer {
    Entry founding;
};

// What a node's program asks for, on its way to the leader: batches as in codec/command_codec.
// There is no answer to it: the caller's own node sees it applied, or sends it again.
struct Forward {
    Bytes urgent;  // commands that end things: never refused for load
    Bytes acquires;
    std::optional<Renewal> renewal;
};

using PeerMessage = std::variant<RaftMessage, FormationOffer, Forward>;

struct Envelope {
    NodeId to;
    PeerMessage message;
};

}  // namespace mortise::core
