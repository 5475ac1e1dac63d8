// The floor: what three processes and three disks cost without locks. Prints one line of JSON.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/floor/leader.hpp"
#include "bench/floor/probe.hpp"
#include "bench/floor/spread.hpp"
#include "bench/measure/closed_loop.hpp"

namespace mortise::bench {

namespace {

constexpr auto usage =
    "bench_floor probe DIRECTORY SECONDS\n"
    "bench_floor load DIRECTORY CALLERS awaited|unawaited WARM-UP SECONDS\n"
    "bench_floor spread DIRECTORY CALLERS awaited|unawaited WARM-UP SECONDS\n";

using Words = std::vector<std::string>;

nlohmann::json probe(const Words& words) {
    const Seconds time{std::stod(words.at(2))};
    return {{"sync", measure_sync(words.at(1), time).to_json()},
            {"round_trip", measure_round_trip(time).to_json()}};
}

nlohmann::json load(const Words& words) {
    Leader leader{words.at(1)};
    const bool awaited = words.at(3) == "awaited";
    Window window{Seconds{std::stod(words.at(4))}, Seconds{std::stod(words.at(5))},
                  [&] { return leader.counters(); }};
    const Command command;
    return closed_loop(std::stoul(words.at(2)), window, [&](std::size_t) {
        const auto begin = Clock::now();
        leader.commit(command);
        const auto acquired = Clock::now();
        if (awaited)
            leader.commit(command);
        else
            leader.submit(command);
        return acquired - begin;
    });
}

int run(const Words& words) {
    const auto is = [&](std::string_view name, std::size_t count) {
        return !words.empty() && words[0] == name && words.size() == count;
    };
    if (is("spread", 6)) {
        run_spread({words[1], std::stoul(words[2]), words[3] == "awaited", std::stod(words[4]),
                    std::stod(words[5])});
        return 0;
    }
    if (!is("probe", 3) && !is("load", 6)) {
        std::cerr << usage;
        return 64;
    }
    std::cout << (words[0] == "probe" ? probe(words) : load(words)).dump() << '\n';
    return 0;
}

}  // namespace

}  // namespace mortise::bench

int main(int argc, char** argv) {
    try {
        return mortise::bench::run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench_floor: %s\n", error.what());
        return 1;
    }
}
