// One node of a measured cluster and the callers in its process. It does what the lines on its
// standard input say, and answers each of them with a line.
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "bench/measure/durability.hpp"
#include "bench/measure/usage.hpp"
#include "bench/node/tasks.hpp"
#include "embed/threads/stage_trace.hpp"
#include <mortise/config.hpp>
#include <mortise/mortise.hpp>

namespace mortise::bench {

namespace {

Config config_of(const std::vector<std::string>& words) {
    Config config;
    config.node_id = std::stoul(words.at(0));
    config.data_dir = words.at(1);
    for (std::size_t i = 2; i < words.size(); ++i)
        config.peers.push_back({i - 1, words[i]});
    config.listen = words.at(1 + config.node_id);
    if (is_replicated()) config.durability = Durability::replicated;
    return config;
}

nlohmann::json status_of(const Node& node) {
    const auto status = node.status();
    return {{"ready", status.ready},
            {"leads", status.standing == Standing::leader},
            {"leader", status.leader.value_or(0)},
            {"applied", status.applied_index}};
}

// The moments are those of CLOCK_MONOTONIC, which all processes of a machine share.
nlohmann::json acquire_once(Node& node, const std::string& name) {
    auto held = node.acquire(name, uncached);
    const auto now = Clock::now().time_since_epoch();
    held.unlock();
    return {{"granted_at_ns", std::chrono::nanoseconds{now}.count()}};
}

// The stages that calls have passed since the last time; needs MORTISE_TRACE.
nlohmann::json stages() {
    auto times = nlohmann::json::array();
    for (const auto& [stage, at_ns] : detail::take_stages())
        times.push_back({static_cast<int>(stage), at_ns});
    return {{"stages", std::move(times)}};
}

class Servant {
public:
    explicit Servant(Config config) : node_{std::move(config)} {}

    nlohmann::json obey(const nlohmann::json& task) {
        const auto what = task.at("task").get<std::string>();
        if (what == "status") return status_of(node_);
        if (what == "counters") return counters_of(node_);
        if (what == "memory") return own_memory();
        if (what == "stages") return stages();
        if (what == "blocking") return blocking_load(node_, Load{task});
        if (what == "async") return async_load(node_, Load{task});
        if (what == "open") return open_load(node_, Load{task}, task.at("rate").get<double>());
        if (what == "once") return acquire_once(node_, task.at("name").get<std::string>());
        if (what == "cached")
            return cached_load(node_, task.at("name").get<std::string>(),
                               Seconds{task.at("seconds").get<double>()});
        if (what == "ready") {
            const Seconds patience{task.at("seconds").get<double>()};
            const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
            return {{"ready", node_.wait_ready(end)}};
        }
        if (what == "hold") {
            hold(node_, task.at("prefix").get<std::string>(), task.at("count").get<std::size_t>(),
                 holds_);
            return {{"holds", holds_.size()}};
        }
        throw std::invalid_argument{"no task " + what};
    }

private:
    Node node_;
    std::vector<Hold> holds_;
};

void run(const std::vector<std::string>& words) {
    Servant servant{config_of(words)};
    for (std::string line; std::getline(std::cin, line);) {
        nlohmann::json answer;
        try {
            answer = servant.obey(nlohmann::json::parse(line));
        } catch (const std::exception& error) {
            answer = {{"failure", error.what()}};
        }
        std::cout << answer.dump() << std::endl;
    }
}

}  // namespace

}  // namespace mortise::bench

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fputs("bench_node ID DIRECTORY ADDRESS...\n", stderr);
        return 64;
    }
    try {
        mortise::bench::run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench_node: %s\n", error.what());
        return 1;
    }
}
