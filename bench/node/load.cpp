#include <cstdio>
#include <future>
#include <utility>

#include <asio/use_future.hpp>

#include "bench/measure/closed_loop.hpp"
#include "bench/measure/usage.hpp"
#include "bench/node/tasks.hpp"
#include <mortise/async.hpp>
#include <mortise/lock_error.hpp>

namespace mortise::bench {

Load::Load(const nlohmann::json& task)
    : prefix{task.value("prefix", "bench")},
      one_name{task.value("one_name", false)},
      awaited{task.value("awaited", true)},
      cached{task.value("cached", false)},
      callers{task.value("callers", std::size_t{1})},
      warm_up{task.value("warm_up", 0.0)},
      seconds{task.value("seconds", 1.0)} {}

std::string Load::name_of(const Node& node, std::size_t caller) const {
    if (one_name) return prefix;
    return prefix + "/" + std::to_string(node.id()) + "/" + std::to_string(caller);
}

nlohmann::json counters_of(const Node& node) {
    const auto metrics = node.metrics();
    const auto usage = own_usage();
    return {{"cpu_ns", usage.cpu_ns},
            {"wakeups", usage.wakeups},
            {"entries", metrics.entries_applied},
            {"commands", metrics.commands_applied},
            {"syncs", metrics.log_writes},
            {"log_bytes", metrics.log_bytes},
            {"messages", metrics.messages_sent},
            {"leader_changes", metrics.leader_changes},
            {"holds_lost", metrics.holds_lost},
            {"refused", metrics.calls_refused},
            {"slowest_step_ns", metrics.slowest_loop_turn.to_nanoseconds().count()},
            {"loop_overruns", metrics.loop_overruns}};
}

nlohmann::json blocking_load(Node& node, const Load& load) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < load.callers; ++i)
        names.push_back(load.name_of(node, i));
    const AcquireOptions options{.caching = load.cached ? Caching::adaptive : Caching::off};
    Window window{load.warm_up, load.seconds, [&node] { return counters_of(node); }};
    return closed_loop(load.callers, window, [&](std::size_t caller) {
        const auto begin = Clock::now();
        auto held = node.acquire(names[caller], options);
        const auto took = Clock::now() - begin;
        if (!load.awaited)
            held.unlock();
        else if (const auto failed = held.release())
            throw LockError{failed};
        return took;
    });
}

void hold(Node& node, const std::string& prefix, std::size_t count, std::vector<Hold>& holds) {
    constexpr std::size_t under_way = 256;
    std::vector<std::future<Hold>> acquires;
    while (holds.size() < count) {
        for (auto i = holds.size(); i < count && acquires.size() < under_way; ++i) {
            char name[64];
            std::snprintf(name, sizeof name, "%.8s/%015zu", prefix.c_str(), i);
            acquires.push_back(async_acquire(node, std::string{name}, uncached, asio::use_future));
        }
        for (auto& acquire : acquires)
            holds.push_back(acquire.get());
        acquires.clear();
    }
}

}  // namespace mortise::bench
