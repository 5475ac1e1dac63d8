// Callers in threads, each of which begins its next cycle when the last one has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bench/measure/histogram.hpp"
#include "bench/measure/window.hpp"

namespace mortise::bench {

// `cycle(caller)` acquires and releases, and returns how long the acquire took. The result is that
// of the window, with "cycles" of each caller, "acquire", a histogram, and "failure", a text that
// is empty when all went well.
template <class Cycle>
nlohmann::json closed_loop(std::size_t callers, Window& window, const Cycle& cycle) {
    struct Caller {
        Histogram acquire;
        std::uint64_t cycles = 0;
    };
    std::vector<std::unique_ptr<Caller>> all;
    std::vector<std::thread> threads;
    std::mutex failing;
    std::string failure;
    for (std::size_t i = 0; i < callers; ++i) {
        auto& caller = *all.emplace_back(std::make_unique<Caller>());
        threads.emplace_back([&, i] {
            try {
                while (window.is_open()) {
                    const auto took = cycle(i);
                    if (!window.counts()) continue;
                    caller.acquire.add(took);
                    ++caller.cycles;
                }
            } catch (const std::exception& error) {
                const std::scoped_lock lock{failing};
                failure = error.what();
            }
        });
    }
    auto result = window.run();
    for (auto& thread : threads)
        thread.join();
    Histogram acquire;
    result["cycles"] = nlohmann::json::array();
    for (const auto& caller : all) {
        acquire.add(caller->acquire);
        result["cycles"].push_back(caller->cycles);
    }
    result["acquire"] = acquire.to_json();
    result["failure"] = failure;
    return result;
}

}  // namespace mortise::bench
