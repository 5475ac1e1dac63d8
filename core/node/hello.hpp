// The hello: what a node says about itself before anything else on a connection.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/access/identity.hpp"
#include "core/base/generation.hpp"
#include "core/base/ids.hpp"
#include "core/base/instant.hpp"
#include "core/codec/command_format.hpp"
#include "core/raft/configuration.hpp"

namespace mortise::core {

// The times that a node is configured with. All members of a cluster should have the same. Zero
// means that the node does not tell.
struct HelloTiming {
    Nanoseconds election_timeout{};
    Nanoseconds heartbeat{};
    Nanoseconds session_ttl{};

    friend bool operator==(const HelloTiming&, const HelloTiming&) = default;
};

struct Hello {
    NodeId node;
    Generation generation;
    ClusterId cluster;           // not set: this node is empty and was never part of a cluster
    std::vector<NodeId> voters;  // as configured, ascending; compared during bootstrap
    std::uint8_t command_format = command_format_oldest;  // the newest format that it reads
    std::string address{};  // where members reach it; empty: it has no address of its own
    HelloTiming timing{};
    std::string cluster_name{};                  // as configured; empty: the node does not tell
    Durability durability = Durability::synced;  // as configured
    bool is_forgetful = false;                   // Unsynced::forgotten
    // Not sent. The receiver of the hello fills it in from the certificate of the connection.
    Access access = Access::all();

    [[nodiscard]] bool is_empty() const { return !cluster.is_set(); }
    friend bool operator==(const Hello&, const Hello&) = default;
};

}  // namespace mortise::core
