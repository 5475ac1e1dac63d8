// Everything one peer sends another.
#pragma once

#include <variant>

#include "core/raft/message.hpp"

namespace mortise::core {

// The founding entry, for an empty node that it names (S47).
struct FormationOffer {
    Entry founding;
};

using PeerMessage = std::variant<RaftMessage, FormationOffer>;

struct Envelope {
    NodeId to;
    PeerMessage message;
};

}  // namespace mortise::core
