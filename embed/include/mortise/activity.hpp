// What happens on the names of a cluster, for operators: who waits, for which names, and how much
// happened in the last quarter of an hour.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <mortise/duration.hpp>
#include <mortise/enums.hpp>
#include <mortise/node_id.hpp>

#include <mortise/detail/macros_aside.hpp>

namespace mortise {

// A name for which requests wait.
struct ContendedName {
    std::string name{};
    NameKind kind = NameKind::lock;
    std::uint64_t holders = 0;
    std::uint64_t waiters = 0;
    Duration oldest_wait{};

    friend bool operator==(const ContendedName&, const ContendedName&) = default;
};

// The names with one of the prefixes in the configuration of the node (observability.prefixes). A
// name belongs to the longest one that it begins with.
struct PrefixActivity {
    std::string prefix{};  // empty: the names that belong to none
    std::uint64_t holders = 0;
    std::uint64_t waiters = 0;
    std::uint64_t contended_names = 0;
    std::uint64_t grants = 0;  // a counter, since this run of the node began
    Duration oldest_wait{};

    friend bool operator==(const PrefixActivity&, const PrefixActivity&) = default;
};

// What the node applied in a time of that length. Quantiles are the upper bounds of buckets, each
// up to 1.5 times as long as the one before.
struct ActivityRates {
    Duration length{};
    std::uint64_t grants = 0;       // of holds; a grant that a node's cache passes on is none
    std::uint64_t releases = 0;     // of holds, by their owners
    std::uint64_t losses = 0;       // holds that expired or were broken
    std::uint64_t waiters_max = 0;  // the most requests that waited at a time
    // From the request of a hold until its grant; zero if it was granted at once.
    Duration wait_p50{};
    Duration wait_p99{};
    // From the grant of a hold until its end, of the holds that ended.
    Duration hold_p50{};
    Duration hold_p99{};

    friend bool operator==(const ActivityRates&, const ActivityRates&) = default;
};

// One member's view of its cluster. All of it follows from the log, so every member that is not
// behind shows the same, in times of its own clock: from when it applied a request until it applied
// its grant. Of a request that is older than this run of the member, `oldest_wait` is the time
// since the run began: it has waited at least as long.
struct Activity {
    NodeId node = 0;        // whose view it is
    std::string cluster{};  // the configured name
    NodeId leader = 0;      // 0: unknown
    std::uint64_t members = 0;
    std::uint64_t sessions = 0;
    std::uint64_t names = 0;
    // Requests that wait in the queues of names. One that waits for several names counts at each.
    std::uint64_t waiters = 0;
    std::uint64_t contended_names = 0;  // with waiters
    Duration oldest_wait{};
    // At most 10: those with the most waiters among the names that begin with the requested prefix.
    std::vector<ContendedName> hottest{};
    std::vector<PrefixActivity> prefixes{};  // as configured, then the rest; empty without any
    ActivityRates recent{};                  // all slots together
    // Ten seconds each, at most 90, the oldest one first. The last one is not over.
    std::vector<ActivityRates> slots{};

    friend bool operator==(const Activity&, const Activity&) = default;
};

}  // namespace mortise

#include <mortise/detail/macros_back.hpp>
