#include "tests/sim/run/seed_runs.hpp"

#include <gtest/gtest.h>

namespace mortise::sim {
namespace {

TEST(SeedRuns, AreTheSameOnOneThreadAndOnThree) {
    RunOptions options;
    options.seed = 48;  // one of them runs twice
    options.steps = 300;
    constexpr std::uint64_t seeds = 5;
    SeedRuns alone{options, seeds, 1};
    SeedRuns together{options, seeds, 3};
    for (std::uint64_t i = 0; i < seeds; ++i) {
        const auto one = alone.next();
        const auto other = together.next();
        EXPECT_EQ(one.options.seed, options.seed + i);
        EXPECT_EQ(other.options.seed, options.seed + i);
        EXPECT_EQ(one.result.trace, other.result.trace);
        EXPECT_EQ(one.repeated, one.options.seed == 50);
        EXPECT_FALSE(other.result.violation);
    }
}

TEST(SeedRuns, MayBeLeftBeforeTheirEnd) {
    RunOptions options;
    options.steps = 100;
    SeedRuns runs{options, 1'000'000'000, 2};
    EXPECT_EQ(runs.next().options.seed, 1U);
}

}  // namespace
}  // namespace mortise::sim
