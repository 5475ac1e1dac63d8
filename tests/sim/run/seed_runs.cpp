#include "tests/sim/run/seed_runs.hpp"

#include <utility>

namespace mortise::sim {

namespace {

constexpr std::uint64_t seeds_between_repeats = 50;
constexpr std::uint64_t results_for_each_thread = 16;

}  // namespace

SeedRun run_and_repeat(const RunOptions& options) {
    SeedRun run{options, run_seed(options)};
    if (run.result.violation || options.seed % seeds_between_repeats != 0) return run;
    run.repeated = true;
    if (run_seed(options).trace != run.result.trace)
        run.result.violation = Violation{"determinism: two runs of this seed differ", {}, 0, 0};
    return run;
}

SeedRuns::SeedRuns(const RunOptions& options, std::uint64_t seeds, unsigned threads)
    : options_{options},
      end_{options.seed + seeds},
      ahead_{results_for_each_thread * threads},
      taken_{options.seed},
      given_{options.seed} {
    while (threads_.size() < threads)
        threads_.emplace_back([this] { work(); });
}

SeedRuns::~SeedRuns() {
    {
        const std::lock_guard guard{mutex_};
        is_over_ = true;
    }
    changed_.notify_all();
    for (auto& thread : threads_)
        thread.join();
}

std::optional<std::uint64_t> SeedRuns::take_seed() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return is_over_ || taken_ == end_ || taken_ < given_ + ahead_; });
    if (is_over_ || taken_ == end_) return std::nullopt;
    return taken_++;
}

void SeedRuns::work() {
    while (const auto seed = take_seed()) {
        auto options = options_;
        options.seed = *seed;
        Done done;
        try {
            done.run = run_and_repeat(options);
        } catch (...) {
            done.error = std::current_exception();
        }
        const std::lock_guard guard{mutex_};
        done_.emplace(*seed, std::move(done));
        changed_.notify_all();
    }
}

SeedRun SeedRuns::next() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return done_.contains(given_); });
    auto done = std::move(done_.extract(given_).mapped());
    ++given_;
    changed_.notify_all();
    if (done.error) std::rethrow_exception(done.error);
    return std::move(done.run);
}

}  // namespace mortise::sim
