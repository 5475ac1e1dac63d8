#include "tests/check/made_history.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/check/history_check.hpp"
#include "tests/check/history_file.hpp"

namespace mortise::check {

namespace {

constexpr std::uint64_t seeds = 80;

std::string in_lines(const Verdict& verdict) {
    auto text = verdict.name + ": " + verdict.why + "\n";
    for (const auto& call : verdict.window)
        text += to_line(call) + "\n";
    return text;
}

TEST(MadeHistories, AreExplained) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const auto verdict = check(made_history({seed, 2, 2 + seed % 7, 200}));
        ASSERT_TRUE(verdict.explained) << "seed " << seed << "\n" << in_lines(verdict);
    }
}

TEST(MadeHistories, ContainEverythingThatIsJudged) {  // P13
    const auto calls = made_history({1, 20, 5, 300});
    const auto some = [&](Operation operation, Outcome outcome) {
        return std::ranges::any_of(calls, [&](const Call& call) {
            return call.operation == operation && call.outcome == outcome;
        });
    };
    EXPECT_TRUE(some(Operation::acquire, Outcome::timed_out));
    EXPECT_TRUE(some(Operation::acquire, Outcome::unknown));
    EXPECT_TRUE(some(Operation::try_acquire, Outcome::busy));
    EXPECT_TRUE(some(Operation::release, Outcome::unknown));
    EXPECT_TRUE(some(Operation::lost, Outcome::none));
    EXPECT_TRUE(some(Operation::died, Outcome::none));
}

class Broken : public testing::TestWithParam<std::pair<Breakage, std::string_view>> {};

TEST_P(Broken, IsFound) {  // P13
    std::size_t broken = 0;
    for (std::uint64_t seed = 1; seed <= seeds / 2; ++seed) {
        core::Prng prng{seed};
        auto calls = made_history({seed, 2, 2 + seed % 7, 200});
        if (!break_history(calls, GetParam().first, prng)) continue;
        ++broken;
        const auto verdict = check(calls);
        ASSERT_FALSE(verdict.explained) << "seed " << seed;
        ASSERT_FALSE(verdict.why.empty()) << "seed " << seed;
        ASSERT_FALSE(verdict.window.empty()) << "seed " << seed;
        ASSERT_FALSE(check(verdict.window).explained) << "seed " << seed;
    }
    EXPECT_GT(broken, seeds / 4);
}

INSTANTIATE_TEST_SUITE_P(InOnePlace, Broken, testing::ValuesIn(breakages),
                         [](const auto& broken) { return std::string{broken.param.second}; });

}  // namespace

}  // namespace mortise::check
