// The configuration of a node. Each part reads its own fields; nothing changes them.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/access/identity.hpp"
#include "core/base/generation.hpp"
#include "core/base/instant.hpp"
#include "core/codec/command_format.hpp"
#include "core/locks/origin.hpp"
#include "core/observe/change_ring.hpp"
#include "core/raft/configuration.hpp"

namespace mortise::core {

struct NodeOptions {
    NodeId self;
    Generation generation;
    bool former_life_ended = false;  // see AgentOptions
    // As configured, ascending, without incarnations, including self. Empty: this node bootstraps
    // no cluster, but waits until it is added to one.
    std::vector<Member> voters;
    // How long a sole voter without a log waits for members of its cluster to call it, before it
    // bootstraps one. Its cluster may have grown, and its directory may be lost.
    Nanoseconds founding_pause{0};
    Nanoseconds election_timeout{std::chrono::seconds{1}};
    Nanoseconds heartbeat{std::chrono::milliseconds{100}};
    std::uint32_t session_ttl_ms = 10'000;
    std::uint32_t clock_rate_bound_ppm = 10'000;
    Nanoseconds call_timeout{std::chrono::seconds{10}};
    std::size_t log_bytes_max = std::size_t{256} << 20U;        // kept for slow members
    std::size_t log_bytes_for_states = std::size_t{64} << 20U;  // more, while one receives a state
    std::size_t snapshot_bytes_max = std::size_t{512} << 10U;   // of a chunk
    // How much of a snapshot may be passed on and not on disk yet; or a single chunk.
    std::size_t install_bytes_max = std::size_t{4} << 20U;
    // How much is applied in one step, or a single larger entry: a few milliseconds of work for
    // acquires and releases.
    std::size_t apply_bytes_max = std::size_t{4} << 10U;
    // Changes are passed to the state on disk after this time at most.
    Nanoseconds state_interval{std::chrono::milliseconds{250}};
    std::uint64_t compare_every = 1'024;  // entries between two comparisons of the state
    std::size_t uncommitted_bytes_max = std::size_t{16} << 20U;  // beyond it nothing is proposed
    // Memory for changes that the state on disk lacks. Beyond it acquires are rejected, beyond 5/4
    // of it everything except renewals, and beyond 6/4 of it everything.
    std::size_t state_lag_bytes_max = std::size_t{256} << 20U;
    ChangeRing::Limits changes_kept{};                                    // for observers
    std::size_t client_places = std::numeric_limits<std::size_t>::max();  // for client nodes
    std::size_t window = 2'048;                                           // see AgentOptions
    std::uint64_t seed = 0;
    // The newest format of commands that this node reads; another value simulates an older version.
    std::uint8_t command_format = command_format_newest;
    std::string cluster_name{};  // see Hello
    Durability durability = Durability::synced;
    Access access = Access::all();        // what this node's own certificate allows
    Origin origin{};                      // what this node says of itself, for people
    std::vector<std::string> prefixes{};  // see Activity

    // False for an older version.
    [[nodiscard]] bool knows_origins() const { return command_format >= command_format_of_origins; }
    [[nodiscard]] bool tells_recalls() const { return command_format >= command_format_of_recalls; }
};

}  // namespace mortise::core
