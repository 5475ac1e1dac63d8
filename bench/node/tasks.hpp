// What a measured node is told to do: one object of JSON for each task, one for its answer.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/measure/window.hpp"
#include <mortise/hold.hpp>
#include <mortise/node.hpp>

namespace mortise::bench {

// The part that all loads share.
struct Load {
    explicit Load(const nlohmann::json& task);

    // The name of one caller's lock; all callers have the same one if the task says so.
    [[nodiscard]] std::string name_of(const Node& node, std::size_t caller) const;

    std::string prefix;
    bool one_name;
    bool awaited;  // each release, before the next acquire
    bool cached;   // a node may keep its grants for its own callers
    std::size_t callers;
    Seconds warm_up;
    Seconds seconds;
};

// Most loads measure the cluster, and not the cache of a node.
inline const AcquireOptions uncached{.caching = Caching::off};

// Callers that block, each in a thread.
[[nodiscard]] nlohmann::json blocking_load(Node& node, const Load& load);
// So many acquires and releases under way, without threads: see async_load.cpp.
[[nodiscard]] nlohmann::json async_load(Node& node, const Load& load);
// `rate` acquires begin in each second, whether or not the earlier ones are granted. An acquire
// takes from the moment at which it was due, so that a stall is seen by all that it delays.
[[nodiscard]] nlohmann::json open_load(Node& node, const Load& load, double rate);

// Takes a cached lock by name and through a Mutex, and a std::mutex beside them.
[[nodiscard]] nlohmann::json cached_load(Node& node, const std::string& name, Seconds time);

// Acquires locks until it holds `count` of them, with names of 24 bytes.
void hold(Node& node, const std::string& prefix, std::size_t count, std::vector<Hold>& holds);

// Everything that grows: the node's metrics, and the usage of this process.
[[nodiscard]] nlohmann::json counters_of(const Node& node);

}  // namespace mortise::bench
