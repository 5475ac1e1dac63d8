// torture_worker CONFIG HISTORY STORE NAMES SEED: one process of a cluster under torture. Says
// "ready", then "status LEADER TERM" now and then, "stopped WHY" when its node has stopped by
// itself. Told "calm", it takes no more long holds; told "quit", or nothing any more, it ends in
// order.
#include <cstdio>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/torture/workload.hpp"

using namespace std::chrono_literals;
using mortise::tests::Habit;

namespace {

constexpr int threads = 4;

std::mutex printing;

void say(const std::string& line) {
    const std::scoped_lock lock{printing};
    std::cout << line << std::endl;
}

std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> words;
    std::istringstream in{list};
    for (std::string word; std::getline(in, word, ',');)
        words.push_back(word);
    return words;
}

// In a form that fits one line.
void report(const mortise::Node& node, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        const auto status = node.status();
        if (status.stopped) {
            say("stopped " + status.why_stopped);
            return;
        }
        say("status " + std::to_string(status.leader.value_or(0)) + " " +
            std::to_string(status.term));
        std::this_thread::sleep_for(200ms);
    }
}

void work(mortise::tests::Surroundings& around, std::uint64_t seed) {
    std::vector<std::jthread> running;
    running.emplace_back([&around] { report(around.node, around.stop.get_token()); });
    for (int i = 0; i < threads; ++i) {
        const auto own_seed = seed * 100 + static_cast<std::uint64_t>(i);
        const auto habit = i == 0 ? Habit::long_holds : Habit::short_holds;
        running.emplace_back([&around, habit, own_seed] {
            mortise::tests::Workload{around, habit, own_seed}.run();
        });
    }
    for (std::string line; std::getline(std::cin, line) && line != "quit";)
        if (line == "calm") around.calm = true;
    around.stop.request_stop();
}

int run(char** words) {
    const auto config = mortise::Config::from_file(words[1]);
    mortise::tests::HistoryWriter history{words[2]};
    mortise::Node node{config};
    say("up");
    if (!node.wait_ready(std::chrono::steady_clock::now() + 10min)) return 1;
    say("ready");
    mortise::tests::Surroundings around{
        .node = node,
        .history = history,
        .names = split(words[4]),
        .store = words[3],
        .ttl = config.timing.session_ttl.to_nanoseconds(),
        .call_timeout = config.timing.call_timeout.to_nanoseconds()};
    work(around, std::stoull(words[5]));
    node.close();
    say("closed");
    return 0;
}

}  // namespace

int main(int count, char** words) {
    if (count != 6) return 64;
    try {
        return run(words);
    } catch (const std::exception& problem) {
        say(std::string{"failed "} + problem.what());
        return 1;
    }
}
