// Many seeds on several threads, with the results in the order of the seeds. A run shares nothing
// with another one, so the results do not depend on the number of threads.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "tests/sim/run/simulation.hpp"

namespace mortise::sim {

struct SeedRun {
    RunOptions options;
    RunResult result;
    bool repeated = false;  // it ran twice, and the results were compared
};

// Runs the seed, some of them twice: a seed must always have the same trace.
[[nodiscard]] SeedRun run_and_repeat(const RunOptions& options);

// Seeds from `options.seed` on, `seeds` of them.
class SeedRuns {
public:
    SeedRuns(const RunOptions& options, std::uint64_t seeds, unsigned threads);
    // Ends the runs that are under way first.
    ~SeedRuns();
    SeedRuns(const SeedRuns&) = delete;
    SeedRuns& operator=(const SeedRuns&) = delete;

    // The next result, of which there must be one. Rethrows what the run threw.
    [[nodiscard]] SeedRun next();

private:
    struct Done {
        SeedRun run;
        std::exception_ptr error;
    };

    void work();
    [[nodiscard]] std::optional<std::uint64_t> take_seed();

    const RunOptions options_;
    const std::uint64_t end_;
    const std::uint64_t ahead_;  // how many results may wait
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::uint64_t, Done> done_;
    std::uint64_t taken_;  // the next seed to run
    std::uint64_t given_;  // the next result to return
    bool is_over_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace mortise::sim
