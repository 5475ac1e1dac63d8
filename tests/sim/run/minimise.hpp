// From a run that fails to the smallest that fails in the same way: fewer kinds of faults, fewer
// steps. What is left is what a person has to look at.
#pragma once

#include <functional>
#include <optional>

#include "tests/sim/run/simulation.hpp"

namespace mortise::sim {

using Runner = std::function<RunResult(const RunOptions&)>;

struct Smallest {
    RunOptions options;
    RunResult result;
    std::size_t runs = 0;  // that it took
};

// Empty when the run does not fail.
[[nodiscard]] std::optional<Smallest> minimise(const RunOptions& options, const Runner& run);

}  // namespace mortise::sim
