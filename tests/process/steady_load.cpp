// A member that takes and releases locks all the time, while others of its cluster are restarted.
// Every acquire has to succeed; the longest one is the pause that a program notices.
//   steady_load CONFIG NAME...       a thread for each name
// Commands on standard input: "report" prints "report CALLS FAILED LONGEST_MS LOST" since the last
// one, "quit" ends.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/process/said.hpp"
#include <mortise/mortise.hpp>

using namespace std::chrono_literals;

namespace mortise::tests {
namespace {

using Clock = std::chrono::steady_clock;

class Load {
public:
    explicit Load(Node& node) : node_{node} {}

    void run(const std::string& name) {
        while (!ends_) {
            const auto begin = Clock::now();
            std::error_code ec;
            // Cached grants would hide what the cluster does.
            auto hold = node_.acquire(name, {.caching = Caching::off}, ec);
            count(Clock::now() - begin, ec, name);
            std::this_thread::sleep_for(2ms);
            if (!ec && !hold.valid()) ++lost_;
            if (!ec && hold.release()) ++lost_;
        }
    }

    std::string report() {
        const std::scoped_lock lock{mutex_};
        const auto line = "report " + std::to_string(calls_) + " " + std::to_string(failed_) + " " +
                          std::to_string(longest_ / 1ms) + " " + std::to_string(lost_.load());
        calls_ = 0;
        longest_ = {};
        return line;
    }

    void end() { ends_ = true; }

private:
    void count(Clock::duration took, std::error_code ec, const std::string& name) {
        const std::scoped_lock lock{mutex_};
        ++calls_;
        longest_ = std::max(longest_, took);
        if (!ec) return;
        ++failed_;
        say("failed " + name + " after " + std::to_string(took / 1ms) + " ms: " + ec.message());
    }

    Node& node_;
    std::mutex mutex_;
    std::uint64_t calls_ = 0;
    std::uint64_t failed_ = 0;
    Clock::duration longest_{};
    std::atomic<std::uint64_t> lost_ = 0;
    std::atomic<bool> ends_ = false;
};

void run(const char* config, const std::vector<std::string>& names) {
    Node node{Config::from_file(config)};
    say("up");
    if (!node.wait_ready(Clock::now() + 60s)) throw std::runtime_error{"not ready in time"};
    say("ready");
    // It lives through all restarts.
    const auto kept = node.acquire("kept by " + std::to_string(node.id()));
    Load load{node};
    std::vector<std::jthread> threads;
    for (const auto& name : names)
        threads.emplace_back([&load, name] { load.run(name); });
    for (std::string line; std::getline(std::cin, line) && line != "quit";)
        say(load.report() + (kept.valid() ? "" : " kept-lost"));
    load.end();
}

}  // namespace
}  // namespace mortise::tests

int main(int argc, char** argv) {
    if (argc < 3) return 64;
    try {
        mortise::tests::run(argv[1], {argv + 2, argv + argc});
    } catch (const std::exception& problem) {
        mortise::tests::say(std::string{"failed "} + problem.what());
        return 1;
    }
    return 0;
}
