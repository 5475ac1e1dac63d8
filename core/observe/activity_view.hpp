// What readers learn of the activity of a cluster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/instant.hpp"
#include "core/locks/kinds/kinds.hpp"

namespace mortise::core {

constexpr std::size_t hottest_max = 10;
constexpr std::size_t prefixes_max = 32;

// The names with a prefix, or those without any; the counter is of this run of the node.
struct PrefixView {
    std::string prefix;  // empty: the rest
    std::uint64_t holders = 0;
    std::uint64_t waiters = 0;
    std::uint64_t contended = 0;  // names
    std::uint64_t grants = 0;
    Nanoseconds oldest_wait{};

    friend bool operator==(const PrefixView&, const PrefixView&) = default;
};

struct ContentionView {
    std::uint64_t waiters = 0;
    std::uint64_t contended = 0;  // names
    Nanoseconds oldest_wait{};
    std::vector<PrefixView> prefixes;  // as configured, and the rest; empty if none is configured

    friend bool operator==(const ContentionView&, const ContentionView&) = default;
};

struct HotName {
    std::string name;
    RecordKind kind = RecordKind::lock;
    std::uint64_t holders = 0;
    std::uint64_t waiters = 0;
    Nanoseconds oldest_wait{};

    friend bool operator==(const HotName&, const HotName&) = default;
};

struct TimesOf {
    Nanoseconds median{};
    Nanoseconds p99{};

    friend bool operator==(const TimesOf&, const TimesOf&) = default;
};

// One slot, or several together, for readers.
struct Rates {
    Nanoseconds length{};  // for how long it was counted
    std::uint64_t grants = 0;
    std::uint64_t releases = 0;     // by owners
    std::uint64_t losses = 0;       // holds that ended otherwise
    std::uint64_t waiters_max = 0;  // the most that waited at a time
    TimesOf wait;                   // of the grants; zero for one that was made at once
    TimesOf hold;                   // of the holds that ended

    friend bool operator==(const Rates&, const Rates&) = default;
};

struct ActivityView {
    // These are filled in by the caller: whose view it is, and what is around it.
    NodeId node{};
    std::string cluster;
    NodeId leader{};  // not set: unknown
    std::uint64_t members = 0;
    std::uint64_t sessions = 0;

    std::uint64_t names = 0;
    ContentionView contention;
    std::vector<HotName> hottest;  // at most hottest_max
    Rates recent;                  // all slots together
    std::vector<Rates> slots;      // the oldest one first; the last one is not over

    friend bool operator==(const ActivityView&, const ActivityView&) = default;
};

}  // namespace mortise::core
