// One seed: a whole cluster with faults and calls, and the result.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/base/tally.hpp"
#include "tests/sim/base/violations.hpp"

namespace mortise::sim {

struct RunOptions {
    std::uint64_t seed = 1;
    std::uint64_t steps = 12'000;  // until the faults end
    std::FILE* watched = nullptr;  // prints the timeline there
    Faults without{};              // these do not happen, although the seed has them
    std::uint64_t walls = 0;       // other wall clocks for another number
};

struct RunResult {
    std::optional<Violation> violation;
    std::vector<std::string> last_lines;  // of the timeline
    std::string swarm;
    Faults faults_on;
    Tally tally;
    std::uint64_t steps = 0;
    std::uint64_t trace = 0;  // always the same for the same seed and steps
    double node_hours = 0;
    // In election timeouts from the end of the faults: until a leader commits, until all agree.
    double led_after = 0;
    double recovery = 0;
};

[[nodiscard]] RunResult run_seed(const RunOptions& options);

}  // namespace mortise::sim
