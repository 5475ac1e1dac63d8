// Reduces a failing run to the smallest one that fails in the same way, with fewer kinds of faults
// and fewer steps. A person then has to examine only the rest.
#pragma once

#include <functional>
#include <optional>

#include "tests/sim/run/simulation.hpp"

namespace mortise::sim {

using Runner = std::function<RunResult(const RunOptions&)>;

struct Smallest {
    RunOptions options;
    RunResult result;
    std::size_t runs = 0;  // the number of runs that were needed
};

// Empty if the run does not fail.
[[nodiscard]] std::optional<Smallest> minimise(const RunOptions& options, const Runner& run);

}  // namespace mortise::sim
