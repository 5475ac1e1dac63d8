// mortise_sim: runs seeds, and says in its last line what came of them.
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>

#include "core/base/checksum.hpp"
#include "tests/sim/arguments.hpp"
#include "tests/sim/simulation.hpp"

namespace mortise::sim {

namespace {

constexpr std::uint64_t seeds_default = 100;
constexpr std::uint64_t seeds_without_end = std::uint64_t{1} << 40U;
constexpr std::uint64_t seeds_between_repeats = 50;

struct Total {
    Tally tally;
    core::Checksum trace;
    std::uint64_t seeds = 0;
    std::uint64_t steps = 0;
    std::uint64_t repeats = 0;
    std::uint64_t violations = 0;
    double node_hours = 0;
    double slowest_recovery = 0;
    double seconds = 0;
};

void print_violation(const RunOptions& options, const RunResult& result, bool default_steps) {
    const auto& found = *result.violation;
    std::printf("\nVIOLATION in seed %" PRIu64 ": %s\n", options.seed, found.what.c_str());
    std::printf("  at %" PRId64 ".%09" PRId64 " s, step %" PRIu64 ", ", found.time / sim_second,
                found.time % sim_second, found.step);
    if (found.node.is_set()) {
        std::printf("node %" PRIu64 "\n", found.node.raw());
    } else {
        std::printf("no single node\n");
    }
    std::printf("  %s\n\n", result.swarm.c_str());
    for (const auto& line : result.last_lines)
        std::printf("  %s\n", line.c_str());
    std::printf("\nreplay with\n  ./dev sim --seed %" PRIu64, options.seed);
    if (!default_steps) std::printf(" --steps %" PRIu64, options.steps);
    std::printf(" --trace\n\n");
}

void print_tables(const Total& total) {
    std::printf("faults injected\n");
    for (std::size_t i = 0; i < fault_count; ++i) {
        const auto fault = static_cast<Fault>(i);
        std::printf("  %12" PRIu64 "  %s\n", total.tally.of(fault),
                    std::string{name_of(fault)}.c_str());
    }
    std::printf("probes reached\n");
    for (const auto& [name, count] : total.tally.probes()) {
        std::printf("  %12" PRIu64 "  %s\n", count, std::string{name}.c_str());
    }
    std::printf("recovered within %.1f election timeouts at most; %" PRIu64 " seeds run twice\n",
                total.slowest_recovery, total.repeats);
}

void print_verdict(const Total& total) {
    const auto rate = total.seconds > 0 ? static_cast<double>(total.steps) / total.seconds : 0;
    std::printf("sim: %" PRIu64 " seeds, %" PRIu64
                " violations, %.1f node-hours, %.0f steps/s, "
                "trace hash %016" PRIx64 "\n",
                total.seeds, total.violations, total.node_hours, rate, total.trace.value());
}

// Runs a seed, now and then twice, and adds it up.
RunResult run_and_count(const RunOptions& options, Total& total) {
    auto result = run_seed(options);
    if (!result.violation && options.seed % seeds_between_repeats == 0) {
        ++total.repeats;
        if (run_seed(options).trace != result.trace) {
            result.violation = Violation{"determinism: two runs of this seed differ", {}, 0, 0};
        }
    }
    ++total.seeds;
    total.steps += result.steps;
    total.node_hours += result.node_hours;
    total.slowest_recovery = std::max(total.slowest_recovery, result.recovery);
    total.tally.add(result.tally);
    total.trace.number(result.trace);
    if (result.violation) ++total.violations;
    return result;
}

int run(const Arguments& arguments) {
    Total total;
    RunOptions options;
    const bool default_steps = arguments.steps == options.steps;
    options.steps = arguments.steps;
    options.watched = arguments.trace ? stdout : nullptr;
    const auto first = arguments.seed.value_or(arguments.first);
    const auto unasked = arguments.until_failure ? seeds_without_end : seeds_default;
    const auto seeds = arguments.seed ? 1 : arguments.seeds.value_or(unasked);
    const auto began = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < seeds; ++i) {
        options.seed = first + i;
        const auto result = run_and_count(options, total);
        if (!result.violation) continue;
        if (total.violations == 1) {
            print_violation(options, result, default_steps);
        } else {
            std::printf("VIOLATION in seed %" PRIu64 ": %s\n", options.seed,
                        result.violation->what.c_str());
        }
        if (arguments.until_failure) break;
    }
    const auto took = std::chrono::steady_clock::now() - began;
    total.seconds = std::chrono::duration<double>(took).count();
    if (!arguments.trace) print_tables(total);
    print_verdict(total);
    return total.violations == 0 ? 0 : 1;
}

}  // namespace

}  // namespace mortise::sim

int main(int count, char** words) {
    using namespace mortise::sim;
    const auto parsed = parse({words + 1, words + count});
    if (const auto* bad = std::get_if<BadArguments>(&parsed)) {
        std::fprintf(stderr,
                     "mortise_sim: %s (--seeds N, --first S, --seed S, --steps N, "
                     "--until-failure, --trace)\n",
                     bad->why.c_str());
        return 2;
    }
    return run(std::get<Arguments>(parsed));
}
