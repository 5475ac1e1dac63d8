// The command line of the simulator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tests/sim/base/tally.hpp"

namespace mortise::sim {

constexpr unsigned jobs_max = 256;

struct Arguments {
    std::optional<std::uint64_t> seeds;  // default: 100, or no limit with until_failure
    std::uint64_t first = 1;
    std::optional<std::uint64_t> seed;      // run only this one
    std::optional<std::uint64_t> minimise;  // find the smallest run of this seed that fails
    std::string list;                       // a file of runs, see seed_list.hpp
    Faults without;
    std::uint64_t steps = 12'000;
    unsigned jobs = 1;  // seeds that run at the same time, at most jobs_max
    bool until_failure = false;
    bool trace = false;
};

struct BadArguments {
    std::string why;
};

[[nodiscard]] std::variant<Arguments, BadArguments> parse(const std::vector<std::string>& words);

}  // namespace mortise::sim
