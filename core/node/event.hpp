// The events of a node. Each is one step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/agent/call.hpp"
#include "core/client/client_message.hpp"
#include "core/node/hello.hpp"
#include "core/node/message.hpp"
#include "core/raft/snapshot.hpp"

namespace mortise::core {

struct TimerFired {};

struct PeerUp {
    Hello hello;  // the peer's hello, on a new connection
};

struct PeerDown {
    NodeId peer;
};

// A peer refused this node's hello, at the peer's own address: it has seen a later start of this
// directory, or a copy of the directory is connected to it now.
struct LifeRefused {
    NodeId by;
    bool as_copy = false;
};

// A peer refused this node's hello, at the peer's own address: it does not know this node as a
// member.
struct UnknownTo {
    NodeId peer;
};

struct Received {
    NodeId from;
    PeerMessage message;
    // The start of the sender according to the hello of the connection that carried the message.
    // Empty: that of the present connection.
    std::optional<Generation> start{};
};

struct WriteDone {
    WriteId id;
};

// The state on disk contains everything applied up to `index`.
struct StateDurable {
    LogIndex index;
    // For how much of the log the volume has room at present.
    std::size_t log_bytes_max = std::numeric_limits<std::size_t>::max();
};

// Everything that the program requested since the last step.
struct Calls {
    std::vector<Call> calls;
};

struct TransferLeadership {
    NodeId target;
};

// Messages of a client node that is connected to this one (S49), in order.
struct ClientSaid {
    ClientId client;
    std::vector<ClientMessage> messages;
    Access access = Access::all();  // by the certificate of its connection
    std::string certificate{};      // the name of its identity; empty without TLS
    std::string address{};          // from where it is connected; empty: unknown
};

// Its connection has ended.
struct ClientGone {
    ClientId client;
};

using Event = std::variant<TimerFired, PeerUp, PeerDown, Received, WriteDone, StateDurable, Calls,
                           TransferLeadership, SnapshotRows, InstallTaken, StateInstalled,
                           LifeRefused, UnknownTo, ClientSaid, ClientGone>;

}  // namespace mortise::core
