#include "tests/sim/run/report.hpp"

#include <cinttypes>
#include <cstdio>

namespace mortise::sim {

std::string replay_of(const RunOptions& options) {
    auto line = "./dev sim --seed " + std::to_string(options.seed);
    if (options.steps != RunOptions{}.steps) line += " --steps " + std::to_string(options.steps);
    const char* before = " --without ";
    for (std::size_t i = 0; i < fault_count; ++i) {
        if (!options.without.test(i)) continue;
        line += before + word_of(static_cast<Fault>(i));
        before = ",";
    }
    return line;
}

void print_violation(const RunOptions& options, const RunResult& result) {
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
    std::printf("\nreplay with\n  %s --trace\n\n", replay_of(options).c_str());
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
    std::printf("led within %.1f election timeouts at most, recovered within %.1f; %" PRIu64
                " seeds run twice\n",
                total.slowest_leader, total.slowest_recovery, total.repeats);
}

void print_verdict(const Total& total) {
    const auto rate = total.seconds > 0 ? static_cast<double>(total.steps) / total.seconds : 0;
    std::printf("sim: %" PRIu64 " seeds, %" PRIu64
                " violations, %.1f node-hours, %.0f steps/s, "
                "trace hash %016" PRIx64 "\n",
                total.seeds, total.violations, total.node_hours, rate, total.trace.value());
}

}  // namespace mortise::sim
