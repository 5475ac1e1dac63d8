// The parameters of a run, drawn from the seed before it begins. Each run switches most faults off,
// so that the others are exercised more deeply (swarm testing).
#pragma once

#include <array>
#include <limits>
#include <map>
#include <string>

#include "core/base/instant.hpp"
#include "core/base/prng.hpp"
#include "core/locks/command.hpp"
#include "core/node/node_core.hpp"
#include "tests/sim/base/event_heap.hpp"
#include "tests/sim/base/tally.hpp"

namespace mortise::sim {

struct NetworkOptions {
    SimTime delay_min = sim_millisecond / 10;
    SimTime delay_max = sim_millisecond;
    SimTime overtake_max = 0;  // how long an overtaken message is delayed
    std::uint64_t loss_ppm = 0;
    std::uint64_t repeat_ppm = 0;
    std::uint64_t overtake_ppm = 0;
    bool late_messages = false;  // messages of an old connection may arrive
    SimTime connect_max = 10 * sim_millisecond;
    SimTime silence_max = sim_second;  // how long a silent cut may stay undetected
    std::size_t unread_max = 400;      // messages that fit into the buffers of a connection
};

struct DiskOptions {
    SimTime latency_min = sim_millisecond / 10;
    SimTime latency_max = sim_millisecond;
    std::uint64_t at_once_ppm = 0;  // completes within submit()
};

struct WorkloadOptions {
    SimTime pace = 0;         // between two calls, on average
    std::uint64_t names = 1;  // the number of names in use
    std::uint64_t burst = 0;  // at intervals one node acquires this many names at once; zero: never
    std::uint64_t read_percent = 30;
    std::uint64_t transfer_permille = 5;
    std::uint64_t conversion_percent = 0;  // of holds that are converted repeatedly
    std::uint64_t several_percent = 0;     // of acquires of several names
    std::uint64_t priority_percent = 0;    // of acquires with a priority
    core::QueuePolicy policy{};            // of most names
    std::uint64_t locker_percent = 0;      // of acquires with a locker
    std::uint64_t suspend_percent = 0;     // of acquires whose hold survives the end of its lease
    std::uint64_t write_percent = 0;       // of holds under which values are written
    std::uint64_t break_percent = 0;       // of holds that are broken
    std::uint64_t terms_percent = 0;       // of acquires with time limits
    std::uint64_t semaphore_percent = 0;   // of acquires that want permits
    std::uint64_t latch_percent = 0;       // of acquires in place of which others are waited for
    bool caches = false;                   // nodes keep grants that their owners released
    std::uint64_t own_percent = 0;         // of acquires whose name no other node wants
    SimTime close_pace = 0;  // the average time between two closes of a node; zero: none is closed
};

inline constexpr std::array<core::QueuePolicy, 4> queue_policies{
    core::QueuePolicy::phase_fair, core::QueuePolicy::fifo, core::QueuePolicy::prefer_readers,
    core::QueuePolicy::prefer_writers};

// The factor between the timeouts of the nodes in a run with mixed timing.
constexpr std::int64_t impatience_max = 4;
constexpr std::int64_t heartbeats_min = 3;  // in an election timeout, as the configuration demands

struct Swarm {
    std::size_t nodes = 3;
    std::size_t spares = 0;   // of these nodes: not configured voters
    std::size_t clients = 0;  // nodes without a copy of the log
    core::Nanoseconds election_timeout{};
    core::Nanoseconds heartbeat{};
    // some nodes have timeouts up to four times shorter, others send rarely
    bool mixed_timing = false;
    std::uint32_t session_ttl_ms = 10'000;
    core::Nanoseconds call_timeout{};
    std::size_t log_bytes_max = std::size_t{256} << 20U;
    std::size_t snapshot_bytes_max = std::size_t{512} << 10U;
    std::uint64_t compare_every = 64;
    bool tiny_log = false;
    std::size_t apply_bytes_max = core::NodeOptions{}.apply_bytes_max;
    std::size_t install_bytes_max = std::numeric_limits<std::size_t>::max();
    std::size_t state_lag_bytes_max = core::NodeOptions{}.state_lag_bytes_max;
    std::size_t window = core::NodeOptions{}.window;
    NetworkOptions network;
    DiskOptions disk;
    WorkloadOptions workload;
    std::uint64_t wild_clock_node = 0;  // zero: any
    // The state of this node never gets to disk, and the cluster works without it; zero: no such
    // node. Used together with is_lag_small(), because it would have no effect otherwise.
    std::uint64_t standing_state_node = 0;
    SimTime timer_slack = 0;            // timers fire up to this much late
    SimTime flush_pace = 0;             // between two flushes of the state
    SimTime state_interval = 0;         // until changes are handed over for one
    SimTime fault_pace = 0;             // between two faults, on average
    std::uint64_t steps_percent = 100;  // of the requested steps, so that some runs end early
    bool spiteful = false;              // faults come mostly during elections
    bool stormy_start = false;          // many faults come during the bootstrap
    bool judged_from_outside = false;   // tests/check judges the run as well
    // The rules of the certificates of some nodes, by id; empty: every node may do everything.
    std::map<std::uint64_t, core::Access> restricted;
    bool lies = false;       // those nodes ignore the restrictions of their own certificates
    std::uint64_t liar = 0;  // the node that says what is wrong in its own name; zero: none
    core::Durability durability = core::Durability::synced;
    bool durability_changes = false;  // each start of a node draws its own
    bool upgrade = false;  // nodes start with the old version and are upgraded one after the other
    bool lease_trial = false;   // the faults are those that leases protect against
    SimTime fault_length = 0;   // the average length of a fault
    SimTime restart_after = 0;  // the average time until a crashed node restarts
    std::array<std::uint64_t, fault_count> fault_weight{};  // zero: off

    [[nodiscard]] bool members_change() const {
        return is_on(Fault::member_added) || is_on(Fault::member_removed) ||
               is_on(Fault::disk_wiped) || is_on(Fault::disk_damaged) ||
               is_on(Fault::disk_rolled_back) || is_on(Fault::disk_set_back) ||
               is_on(Fault::bit_flip);
    }
    // True if a snapshot arrives no faster than it gets to disk.
    [[nodiscard]] bool is_install_bounded() const {
        return install_bytes_max < std::numeric_limits<std::size_t>::max();
    }
    // True if nodes reject work because the state on disk is behind.
    [[nodiscard]] bool is_lag_small() const {
        return state_lag_bytes_max < core::NodeOptions{}.state_lag_bytes_max;
    }
    // True if requests wait for the window.
    [[nodiscard]] bool is_window_small() const { return window < core::NodeOptions{}.window; }
    // The access that the certificate of that node allows.
    [[nodiscard]] core::Access access_of(core::NodeId node) const {
        const auto found = restricted.find(node.raw());
        return found == restricted.end() ? core::Access::all() : found->second;
    }
    [[nodiscard]] Faults faults_on() const;
    void switch_off(const Faults& faults);
    [[nodiscard]] bool is_on(Fault fault) const {
        return fault_weight[static_cast<std::size_t>(fault)] != 0;
    }
};

[[nodiscard]] Swarm draw_swarm(core::Prng& prng);
[[nodiscard]] std::string describe(const Swarm& swarm);

}  // namespace mortise::sim
