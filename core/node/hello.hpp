// What a node says of itself before anything else is said on a connection.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/access/identity.hpp"
#include "core/base/ids.hpp"
#include "core/codec/command_format.hpp"
#include "core/raft/configuration.hpp"

namespace mortise::core {

struct Hello {
    NodeId node;
    Incarnation incarnation;
    BootEpoch boot_epoch;
    ClusterId cluster;           // not set: this node is empty, it was never part of a cluster
    std::vector<NodeId> voters;  // as configured, ascending; compared when a cluster is formed
    // Drawn by chance at each start: two lives of one epoch are lives of two copies.
    std::uint64_t life = 0;
    std::uint8_t command_format = command_format_oldest;  // the newest that it reads
    std::string
        address{};  // where the members find it; empty: it knows of no membership of its own
    // Is not sent. Whoever receives the hello fills it in, from the certificate of the connection.
    Access access = Access::all();

    [[nodiscard]] bool is_empty() const { return !cluster.is_set(); }
    friend bool operator==(const Hello&, const Hello&) = default;
};

}  // namespace mortise::core
