// mortise_sim: runs seeds, and prints the result in its last line.
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <fstream>

#include "tests/sim/run/arguments.hpp"
#include "tests/sim/run/minimise.hpp"
#include "tests/sim/run/report.hpp"
#include "tests/sim/run/seed_list.hpp"
#include "tests/sim/run/seed_runs.hpp"

namespace mortise::sim {

namespace {

constexpr std::uint64_t seeds_default = 100;
constexpr std::uint64_t seeds_without_end = std::uint64_t{1} << 40U;
constexpr std::uint64_t seeds_that_miss_nothing = 2'000;

void add(const SeedRun& run, Total& total) {
    const auto& result = run.result;
    if (run.repeated) ++total.repeats;
    ++total.seeds;
    total.steps += result.steps;
    total.node_hours += result.node_hours;
    total.slowest_leader = std::max(total.slowest_leader, result.led_after);
    total.slowest_recovery = std::max(total.slowest_recovery, result.recovery);
    total.tally.add(result.tally);
    total.trace.number(result.trace);
    if (result.violation) ++total.violations;
}

// This many seeds reach every probe; otherwise the simulation has lost its coverage.
bool has_reached_everything(const Total& total) {
    if (total.seeds < seeds_that_miss_nothing) return true;
    const auto missed = total.tally.missed();
    for (const auto name : missed)
        std::printf("NEVER REACHED: %s\n", std::string{name}.c_str());
    return missed.empty();
}

void run_seeds(const Arguments& arguments, RunOptions options, Total& total) {
    options.seed = arguments.seed.value_or(arguments.first);
    const auto unasked = arguments.until_failure ? seeds_without_end : seeds_default;
    const auto seeds = arguments.seed ? 1 : arguments.seeds.value_or(unasked);
    SeedRuns runs{options, seeds, arguments.jobs};
    for (std::uint64_t i = 0; i < seeds; ++i) {
        const auto run = runs.next();
        add(run, total);
        if (!run.result.violation) continue;
        if (total.violations == 1) {
            print_violation(run.options, run.result);
        } else {
            std::printf("VIOLATION in seed %" PRIu64 ": %s\n", run.options.seed,
                        run.result.violation->what.c_str());
        }
        if (arguments.until_failure) break;
    }
}

int run(const Arguments& arguments) {
    Total total;
    RunOptions options;
    options.steps = arguments.steps;
    options.watched = arguments.trace ? stdout : nullptr;
    options.without = arguments.without;
    const auto began = std::chrono::steady_clock::now();
    run_seeds(arguments, options, total);
    const auto took = std::chrono::steady_clock::now() - began;
    total.seconds = std::chrono::duration<double>(took).count();
    if (!arguments.trace) print_tables(total);
    const bool everything = has_reached_everything(total);
    print_verdict(total);
    return total.violations == 0 && everything ? 0 : 1;
}

int run_list(const std::string& path) {
    std::ifstream file{path};
    if (!file) {
        std::fprintf(stderr, "mortise_sim: cannot read %s\n", path.c_str());
        return 2;
    }
    Total total;
    for (const auto& listed : read_list(file)) {
        const auto run = run_and_repeat(listed.options);
        add(run, total);
        if (!run.result.violation) continue;
        std::printf("once: %s\n", listed.what.c_str());
        print_violation(listed.options, run.result);
    }
    std::printf("sim: %" PRIu64 " listed runs, %" PRIu64 " violations\n", total.seeds,
                total.violations);
    return total.violations == 0 ? 0 : 1;
}

int run_minimise(const Arguments& arguments) {
    RunOptions options;
    options.seed = *arguments.minimise;
    options.steps = arguments.steps;
    options.without = arguments.without;
    const auto smallest = minimise(options, run_seed);
    if (!smallest) {
        std::printf("seed %" PRIu64 " does not fail\n", options.seed);
        return 0;
    }
    print_violation(smallest->options, smallest->result);
    std::printf("sim: the smallest of %zu runs: %s\n", smallest->runs,
                replay_of(smallest->options).c_str());
    return 1;
}

}  // namespace

}  // namespace mortise::sim

int main(int count, char** words) {
    using namespace mortise::sim;
    const auto parsed = parse({words + 1, words + count});
    if (const auto* bad = std::get_if<BadArguments>(&parsed)) {
        std::fprintf(stderr,
                     "mortise_sim: %s (--seeds N, --first S, --seed S, --jobs N, --steps N, "
                     "--without F,G, --minimise S, --list FILE, --until-failure, --trace)\n",
                     bad->why.c_str());
        return 2;
    }
    const auto& arguments = std::get<Arguments>(parsed);
    if (arguments.minimise) return run_minimise(arguments);
    try {
        return arguments.list.empty() ? run(arguments) : run_list(arguments.list);
    } catch (const BadList& bad) {
        std::fprintf(stderr, "mortise_sim: %s: %s\n", arguments.list.c_str(), bad.what());
        return 2;
    }
}
