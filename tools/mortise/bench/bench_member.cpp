// One node of the measured cluster, and the callers in its process.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tools/mortise/bench/latency.hpp"
#include "tools/mortise/member.hpp"

namespace mortise::cli {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto status_period = 100ms;

// The cluster is measured, not the cache of a node.
const AcquireOptions uncached{.caching = Caching::off};

struct Samples {
    Latency acquire;
    Latency release;
};

void one_round(Node& node, const std::string& name, Samples& samples) {
    const auto begin = Clock::now();
    auto hold = node.acquire(name, uncached);
    const auto granted = Clock::now();
    if (const auto failed = hold.release()) throw LockError{failed};
    const auto released = Clock::now();
    samples.acquire.add(granted - begin);
    samples.release.add(released - granted);
}

// Measures one caller: {"latency": name, "seconds": n}
Json measure_latency(Node& node, const Json& task) {
    const std::string name = task.at("latency");
    constexpr int warm_up = 20;
    Samples unused;
    for (int i = 0; i < warm_up; ++i)
        one_round(node, name, unused);
    Samples samples;
    const auto end = Clock::now() + std::chrono::seconds{task.at("seconds").get<int>()};
    while (Clock::now() < end)
        one_round(node, name, samples);
    return {{"acquire", json_of(samples.acquire.quantiles())},
            {"release", json_of(samples.release.quantiles())}};
}

// Measures many callers: {"load": name, "callers": n, "distinct": bool, "seconds": n}
Json measure_load(Node& node, const Json& task) {
    const auto callers = task.at("callers").get<std::size_t>();
    const auto end = Clock::now() + std::chrono::seconds{task.at("seconds").get<int>()};
    std::vector<std::uint64_t> rounds(callers);
    std::atomic<bool> failed = false;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < callers; ++i) {
        threads.emplace_back([&, i] {
            const auto name = task.at("load").get<std::string>() +
                              (task.at("distinct").get<bool>()
                                   ? "/" + std::to_string(node.id()) + "/" + std::to_string(i)
                                   : "");
            std::error_code ec;
            while (!ec && Clock::now() < end) {
                auto hold = node.acquire(name, uncached, ec);
                if (!ec) ec = hold.release();
                if (!ec) ++rounds[i];
            }
            if (ec) failed = true;
        });
    }
    for (auto& thread : threads)
        thread.join();
    return {{"rounds", std::accumulate(rounds.begin(), rounds.end(), std::uint64_t{0})},
            {"failed", failed.load()}};
}

void obey(Leash& leash, Node& node) {
    while (true) {
        const auto task = leash.next();
        if (task.contains("latency"))
            leash.say({{"latency", measure_latency(node, task)}});
        else if (task.contains("load"))
            leash.say({{"load", measure_load(node, task)}});
        else
            return;
    }
}

}  // namespace

ExitCode run_bench_member(Leash& leash) {
    auto node = open_member(leash);
    std::jthread status{[&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            leash.say(short_status(node));
            std::this_thread::sleep_for(status_period);
        }
    }};
    obey(leash, node);
    return ExitCode::ok;
}

}  // namespace mortise::cli
