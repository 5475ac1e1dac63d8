#include "tests/sim/machine/sim_clock.hpp"

#include <gtest/gtest.h>

namespace mortise::sim {
namespace {

constexpr core::Nanoseconds a_second = std::chrono::seconds{1};

TEST(SimClock, AFrozenOneShowsTheSameAndNeverComesToAnything) {
    SimClock clock{0, 0};
    clock.set_rate(sim_second, SimClock::frozen_ppm);
    const auto shown = clock.at(sim_second).steady;
    EXPECT_EQ(clock.at(9 * sim_second).steady, shown);
    EXPECT_EQ(clock.at(9 * sim_second).boot, clock.at(sim_second).boot);
    EXPECT_EQ(clock.when(shown + a_second, 2 * sim_second), sim_never);
    EXPECT_EQ(clock.when(shown, 2 * sim_second), 2 * sim_second) << "that is now";
    clock.set_rate(9 * sim_second, 0);
    EXPECT_EQ(clock.at(10 * sim_second).steady, shown + a_second);
}

TEST(SimClock, JumpsForward) {
    SimClock clock{0, 0};
    const auto before = clock.at(sim_second);
    clock.jump(sim_second, 5 * a_second);
    EXPECT_EQ(clock.at(sim_second).steady, before.steady + 5 * a_second);
    EXPECT_EQ(clock.at(sim_second).boot, before.boot + 5 * a_second);
    EXPECT_EQ(clock.when(before.steady + 4 * a_second, sim_second), sim_second);
}

}  // namespace
}  // namespace mortise::sim
