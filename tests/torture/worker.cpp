// torture_worker CONFIG HISTORY STORE NAMES SEED: one process of a cluster under torture. It prints
// "ready" when it needs no more files of its own, then "status LEADER TERM" at intervals, and
// "stopped WHY" when its node has stopped by itself. The command "calm" ends long holds, "chdir
// DIRECTORY" changes the working directory, and "quit", or the end of the input, ends it in an
// orderly way.
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
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

// In a form that fits in one line.
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

using Workloads = std::vector<std::unique_ptr<mortise::tests::Workload>>;

Workloads workloads_of(mortise::tests::Surroundings& around, std::uint64_t seed) {
    Workloads workloads;
    for (int i = 0; i < threads; ++i) {
        const auto habit = i == 0 ? Habit::long_holds : Habit::short_holds;
        workloads.push_back(std::make_unique<mortise::tests::Workload>(
            around, habit, seed * 100 + static_cast<std::uint64_t>(i)));
    }
    return workloads;
}

void obey(const std::string& line, mortise::tests::Surroundings& around) {
    constexpr std::string_view chdir = "chdir ";
    if (line == "calm") around.calm = true;
    if (!line.starts_with(chdir)) return;
    std::error_code failed;
    std::filesystem::current_path(line.substr(chdir.size()), failed);
    if (failed) say("failed to go to " + line.substr(chdir.size()) + ": " + failed.message());
}

void work(mortise::tests::Surroundings& around, const Workloads& workloads) {
    std::vector<std::jthread> running;
    running.emplace_back([&around] { report(around.node, around.stop.get_token()); });
    for (const auto& workload : workloads)
        running.emplace_back([&workload] { workload->run(); });
    for (std::string line; std::getline(std::cin, line) && line != "quit";)
        obey(line, around);
    around.stop.request_stop();
}

int run(char** words) {
    const auto config = mortise::Config::from_file(words[1]);
    mortise::tests::HistoryWriter history{words[2]};
    mortise::Node node{config};
    say("up");
    if (!node.wait_ready(std::chrono::steady_clock::now() + 10min)) return 1;
    mortise::tests::Surroundings around{
        .node = node,
        .history = history,
        .names = split(words[4]),
        .store = words[3],
        .ttl = config.timing.session_ttl.to_nanoseconds(),
        .call_timeout = config.timing.call_timeout.to_nanoseconds()};
    const auto workloads = workloads_of(around, std::stoull(words[5]));
    say("ready");
    work(around, workloads);
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
