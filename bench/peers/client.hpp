// What the programs that call other lock services share: their command line and their load.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/measure/closed_loop.hpp"
#include "bench/measure/usage.hpp"

namespace mortise::bench {

struct Address {
    std::string host;
    int port = 0;
};

[[nodiscard]] inline Address address_of(const std::string& text) {
    const auto colon = text.rfind(':');
    if (colon == std::string::npos) throw std::invalid_argument{"HOST:PORT, not " + text};
    return {text.substr(0, colon), std::stoi(text.substr(colon + 1))};
}

// PROGRAM RECIPE ADDRESS,... CALLERS own|one WARM-UP SECONDS [PID-OF-SERVER...]
struct PeerLoad {
    explicit PeerLoad(const std::vector<std::string>& words)
        : recipe{words.at(0)},
          callers{std::stoul(words.at(2))},
          one_name{words.at(3) == "one"},
          warm_up{std::stod(words.at(4))},
          seconds{std::stod(words.at(5))} {
        const auto& list = words.at(1);
        for (std::size_t begin = 0; begin <= list.size();) {
            const auto end = std::min(list.find(',', begin), list.size());
            addresses.push_back(list.substr(begin, end - begin));
            begin = end + 1;
        }
        for (std::size_t i = 6; i < words.size(); ++i)
            servers.push_back(std::stoi(words[i]));
    }

    // The lock of one caller, and the server that it is connected to. The first server leads.
    [[nodiscard]] std::string name_of(std::size_t caller) const {
        return one_name ? "bench" : "bench-" + std::to_string(caller);
    }
    [[nodiscard]] const std::string& server_of(std::size_t caller) const {
        return addresses[caller % addresses.size()];
    }

    std::string recipe;
    std::vector<std::string> addresses;
    std::size_t callers;
    bool one_name;
    Seconds warm_up;
    Seconds seconds;
    std::vector<pid_t> servers;
};

// Attempts that found the lock held, or that the service refused, of all callers.
using Retries = std::atomic<std::int64_t>;

// `connect(caller, retries)` makes a pointer to a lock with acquire() and release(), which has a
// connection of its own.
template <class Connect>
nlohmann::json peer_load(const PeerLoad& load, const Connect& connect) {
    Retries retries = 0;
    std::vector<decltype(connect(0, retries))> locks;
    for (std::size_t i = 0; i < load.callers; ++i)
        locks.push_back(connect(i, retries));
    Window window{load.warm_up, load.seconds, [&] {
                      auto cpu_ns = own_usage().cpu_ns;
                      for (const auto server : load.servers)
                          cpu_ns += usage_of(server).cpu_ns;
                      return nlohmann::json{{"cpu_ns", cpu_ns}, {"retries", retries.load()}};
                  }};
    return closed_loop(load.callers, window, [&](std::size_t caller) {
        const auto begin = Clock::now();
        locks[caller]->acquire();
        const auto took = Clock::now() - begin;
        locks[caller]->release();
        return took;
    });
}

// Prints what `run(words)` returns as a line.
inline int peer_main(int argc, char** argv,
                     const std::function<nlohmann::json(const std::vector<std::string>&)>& run) {
    if (argc < 3) {
        std::fprintf(stderr, "%s RECIPE ADDRESS,... CALLERS own|one WARM-UP SECONDS [PID...]\n",
                     argv[0]);
        return 64;
    }
    try {
        std::cout << run({argv + 1, argv + argc}).dump() << std::endl;
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
}

}  // namespace mortise::bench
