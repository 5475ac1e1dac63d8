// What may happen to a node. Each is one step.
#pragma once

#include <cstdint>
#include <variant>

#include "core/node/hello.hpp"
#include "core/node/message.hpp"

namespace mortise::core {

struct TimerFired {};

struct PeerUp {
    Hello hello;  // of the peer, read off a new connection
};

struct PeerDown {
    NodeId peer;
};

struct Received {
    NodeId from;
    PeerMessage message;
};

struct WriteDone {
    WriteId id;
};

// The state on disk contains everything applied up to `index`.
struct StateDurable {
    LogIndex index;
};

// Puts a batch into the log, if this node leads.
struct Propose {
    std::uint64_t tag = 0;
    Bytes batch;
};

struct Read {
    std::uint64_t tag = 0;
};

struct TransferLeadership {
    NodeId target;
};

using Event = std::variant<TimerFired, PeerUp, PeerDown, Received, WriteDone, StateDurable, Propose,
                           Read, TransferLeadership>;

}  // namespace mortise::core
