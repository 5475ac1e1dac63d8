// The counters, present numbers and times of a node, for operators.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <mortise/activity.hpp>
#include <mortise/duration.hpp>
#include <mortise/node_id.hpp>

#include <mortise/detail/macros_aside.hpp>

namespace mortise {

// How many durations were in each bucket. The bounds are 1, 2 and 5 times a power of ten: 1 us,
// 2 us, 5 us, 10 us, ..., 5,000 s. They are the same for every histogram and every version.
struct DurationHistogram {
    static constexpr std::size_t bounds_count = 30;

    // The longest duration that the bucket counts; unset (Duration::max()) for the last one.
    // Requires that `bucket` is at most bounds_count.
    [[nodiscard]] static Duration bound(std::size_t bucket) noexcept;
    // The number of all durations.
    [[nodiscard]] std::uint64_t total() const noexcept {
        return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    }
    // The bound of the bucket that has the given part of all durations in it or before it: 0.99 for
    // the 99th percentile. Zero if there are none.
    [[nodiscard]] Duration quantile(double part) const noexcept;

    // Each duration is counted in one bucket, the first one with a bound that is not shorter.
    std::array<std::uint64_t, bounds_count + 1> counts{};
    std::uint64_t sum_us = 0;  // of all durations, in microseconds

    friend bool operator==(const DurationHistogram&, const DurationHistogram&) = default;
};

// How the acquires of this program have ended, try_acquire and the like included. Their sum is
// Metrics::acquires without those that still wait, and with those that were refused at once.
struct AcquireResults {
    std::uint64_t granted = 0;
    std::uint64_t busy = 0;  // tries that found the name taken
    std::uint64_t timed_out = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t deadlocked = 0;  // to wait would have completed a wait cycle
    std::uint64_t refused = 0;     // a limit was reached
    std::uint64_t failed = 0;      // for any other reason

    friend bool operator==(const AcquireResults&, const AcquireResults&) = default;
};

// Counters since the node was opened, and present numbers where the comment says so.
struct Metrics {
    // Calls of this program.
    std::uint64_t acquires = 0;  // including try_acquire
    std::uint64_t granted = 0;
    std::uint64_t busy = 0;  // attempts that found the name taken
    std::uint64_t timed_out = 0;
    std::uint64_t cancelled = 0;
    std::uint64_t failed = 0;    // for any other reason
    std::uint64_t released = 0;  // with an answer; see holds_released
    std::uint64_t holds_lost = 0;
    std::uint64_t calls_refused = 0;     // a limit was reached
    std::uint64_t sessions_expired = 0;  // of this node
    std::uint64_t holds = 0;             // present number
    std::uint64_t waits = 0;             // present number

    // The cluster, as this node sees it.
    std::uint64_t names = 0;           // present number
    std::uint64_t sessions = 0;        // present number
    std::uint64_t leader_changes = 0;  // seen by this node
    std::uint64_t entries_applied = 0;
    std::uint64_t commands_applied = 0;
    // snapshots installed because this node was too far behind
    std::uint64_t states_taken_over = 0;

    // The node's internals.
    std::uint64_t log_writes = 0;  // each one is one sync
    std::uint64_t log_bytes = 0;   // bytes of the entries in all writes of the log
    std::uint64_t messages_sent = 0;
    std::uint64_t messages_received = 0;
    std::uint64_t messages_refused = 0;  // malformed, or from a sender without permission
    std::uint64_t messages_dropped = 0;  // the peer was too slow
    std::uint64_t connections_refused = 0;
    std::uint64_t loop_overruns = 0;   // steps that took longer than 5 ms
    std::uint64_t late_callbacks = 0;  // callbacks of the program longer than 10 ms
    // Lost locks that were released to the cluster before the callbacks of Hold::lost() had
    // returned, because these took longer than 100 ms.
    std::uint64_t lost_untold = 0;
    Duration slowest_loop_turn{};
    Duration slowest_log_write{};
    // Lines of the node's own log that were dropped: they came too often, or standard error did not
    // accept them.
    std::uint64_t log_lines_left_out = 0;
    std::uint64_t handshakes_failed = 0;  // connections without a trusted certificate
    // Present number: the time until this node's certificate, or one of its authorities, expires;
    // unset (Duration::max()) without TLS.
    Duration certificate_left = Duration::max();
    // Acquires that were served by a grant in this node's cache (AcquireOptions::caching); they are
    // counted in `acquires` and `granted` as well.
    std::uint64_t served_from_cache = 0;

    // More about calls of this program.
    AcquireResults acquire_results{};
    // The part of served_from_cache that a caller of this node handed over to the next one.
    std::uint64_t handed_over = 0;
    // Holds that their owners released, whether anybody waited for the answer or not; without those
    // that the cache served.
    std::uint64_t holds_released = 0;
    // Why holds were lost; their sum is holds_lost.
    std::uint64_t lost_expired = 0;
    std::uint64_t lost_broken = 0;
    std::uint64_t lost_node_stopped = 0;
    std::uint64_t sessions_opened = 0;  // by this node

    // More about the cluster, as this node sees it.
    std::uint64_t locks_broken = 0;       // by operators, with break_lock()
    std::uint64_t elections_started = 0;  // by this node: it was a candidate
    std::uint64_t snapshots_sent = 0;     // to members that were too far behind
    std::uint64_t log_memory_bytes = 0;   // present number: of the entries in memory
    std::uint64_t unsaved_bytes = 0;      // present number: changes of locks that are not on disk

    // With Durability::replicated.
    std::uint64_t unsynced_writes = 0;   // of the log, into the page cache
    std::uint64_t background_syncs = 0;  // of these
    Duration unsynced_age{};             // present number: of the oldest that no sync has covered

    // Times. Acquires that were served from the cache at once are in none of them: to read the
    // clock would take longer than to serve them.
    DurationHistogram acquire_time{};    // from the call until it was granted
    DurationHistogram hold_time{};       // from the grant until it was released or lost
    DurationHistogram commit_time{};     // of an entry; on the leader only
    DurationHistogram log_write_time{};  // of a write of the log, with its sync
    // What was left of the session's lease when its renewal was confirmed: near zero, the holds of
    // this node are about to be lost.
    DurationHistogram renewal_slack{};
    // From the release of a lock by a caller of this node until another one, which waited for it,
    // had it.
    DurationHistogram hand_over_time{};

    // What is contended in the cluster, as this node has applied it: present numbers, see Activity.
    // Zero on a node with Role::client.
    std::uint64_t waiters = 0;
    std::uint64_t contended_names = 0;
    Duration oldest_wait{};
    // Empty if the certificate of this node does not allow it to observe every name.
    std::vector<ContendedName> hottest{};
    std::vector<PrefixActivity> prefixes{};
};

}  // namespace mortise

#include <mortise/detail/macros_back.hpp>
