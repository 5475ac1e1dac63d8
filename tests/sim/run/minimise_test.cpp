#include "tests/sim/run/minimise.hpp"

#include <gtest/gtest.h>

namespace mortise::sim {
namespace {

std::size_t place(Fault fault) {
    return static_cast<std::size_t>(fault);
}

// All faults are on; the failure needs a pause, a crash and 700 steps.
RunResult fails_with_two_faults(const RunOptions& options) {
    RunResult result;
    result.faults_on = ~options.without;
    const bool both =
        result.faults_on.test(place(Fault::pause)) && result.faults_on.test(place(Fault::crash));
    if (both && options.steps >= 700) {
        result.violation = Violation{"rule: step " + std::to_string(options.steps), {}, 0, 0};
    }
    return result;
}

TEST(Minimise, LeavesTheFaultsThatItTakesAndNoOther) {
    const auto smallest = minimise({.seed = 3, .steps = 12'000}, fails_with_two_faults);
    ASSERT_TRUE(smallest);
    Faults left;
    left.set(place(Fault::pause)).set(place(Fault::crash));
    EXPECT_EQ(smallest->result.faults_on, left);
    EXPECT_EQ(smallest->options.seed, 3U);
}

TEST(Minimise, ShortensTheRun) {
    const auto smallest = minimise({.seed = 3, .steps = 12'000}, fails_with_two_faults);
    ASSERT_TRUE(smallest);
    EXPECT_GE(smallest->options.steps, 700U);
    EXPECT_LT(smallest->options.steps, 800U);
}

TEST(Minimise, ReturnsNothingForARunWithoutAFailure) {
    EXPECT_FALSE(minimise({.seed = 3, .steps = 600}, fails_with_two_faults));
}

// Without the pause another rule is violated, which is another failure.
TEST(Minimise, KeepsToTheRuleThatWasBroken) {
    const Runner run = [](const RunOptions& options) {
        auto result = fails_with_two_faults(options);
        if (!result.violation) result.violation = Violation{"another: rule", {}, 0, 0};
        return result;
    };
    const auto smallest = minimise({.seed = 3, .steps = 12'000}, run);
    ASSERT_TRUE(smallest);
    EXPECT_TRUE(smallest->result.violation->what.starts_with("rule:"));
    EXPECT_FALSE(smallest->options.without.test(place(Fault::pause)));
}

}  // namespace
}  // namespace mortise::sim
