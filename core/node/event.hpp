// What may happen to a node. Each is one step.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "core/agent/call.hpp"
#include "core/node/hello.hpp"
#include "core/node/message.hpp"
#include "core/raft/snapshot.hpp"

namespace mortise::core {

struct TimerFired {};

struct PeerUp {
    Hello hello;  // of the peer, read off a new connection
};

struct PeerDown {
    NodeId peer;
};

// A peer refused this node's hello, at the peer's own address: a later start of this directory was
// there since; or a copy of it is connected there now.
struct LifeRefused {
    NodeId by;
    bool as_copy = false;
};

// A peer refused this node's hello, at the peer's own address: no member that it knows of.
struct UnknownTo {
    NodeId peer;
};

struct Received {
    NodeId from;
    PeerMessage message;
    // Of the hello on the connection that it came on. Not set: the one that is up now.
    Incarnation incarnation{};
    BootEpoch boot_epoch{};
};

struct WriteDone {
    WriteId id;
};

// The state on disk contains everything applied up to `index`.
struct StateDurable {
    LogIndex index;
};

// Everything the program asked for since the last step.
struct Calls {
    std::vector<Call> calls;
};

struct TransferLeadership {
    NodeId target;
};

using Event = std::variant<TimerFired, PeerUp, PeerDown, Received, WriteDone, StateDurable, Calls,
                           TransferLeadership, SnapshotRows, InstallTaken, StateInstalled,
                           LifeRefused, UnknownTo>;

}  // namespace mortise::core
