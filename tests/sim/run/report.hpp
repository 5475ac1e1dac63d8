// The output of the simulator.
#pragma once

#include "core/base/checksum.hpp"
#include "tests/sim/run/simulation.hpp"

namespace mortise::sim {

struct Total {
    Tally tally;
    core::Checksum trace;
    std::uint64_t seeds = 0;
    std::uint64_t steps = 0;
    std::uint64_t repeats = 0;
    std::uint64_t violations = 0;
    double node_hours = 0;
    double slowest_leader = 0;
    double slowest_recovery = 0;
    double seconds = 0;
};

// The command that replays the run.
[[nodiscard]] std::string replay_of(const RunOptions& options);
void print_violation(const RunOptions& options, const RunResult& result);
void print_tables(const Total& total);
void print_verdict(const Total& total);

}  // namespace mortise::sim
