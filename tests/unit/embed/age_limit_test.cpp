#include "embed/holds/age_limit.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

TEST(AgeLimit, KnowsWhenTheNextWarningIsDue) {
    const AgeLimit limit{10s};
    EXPECT_EQ(limit.until_next(0s), 10s);
    EXPECT_EQ(limit.until_next(9s), 1s);
    EXPECT_EQ(limit.until_next(10s), 10s);
    EXPECT_EQ(limit.until_next(25s), 15s);
}

TEST(AgeLimit, WarnsAtTheLimitAndEachTimeThatTheAgeHasDoubled) {
    const AgeLimit limit{10s};
    std::uint8_t given = 0;
    std::vector<int> warned_at;
    for (int seconds = 0; seconds <= 100; ++seconds) {
        if (limit.is_due(std::chrono::seconds{seconds}, given)) warned_at.push_back(seconds);
    }
    EXPECT_EQ(warned_at, (std::vector{10, 20, 40, 80}));
    EXPECT_EQ(given, 4);
}

TEST(AgeLimit, GivesOneWarningForThoseThatWereMissed) {
    const AgeLimit limit{10s};
    std::uint8_t given = 0;
    EXPECT_TRUE(limit.is_due(45s, given));
    EXPECT_EQ(given, 3);
    EXPECT_FALSE(limit.is_due(79s, given));
    EXPECT_TRUE(limit.is_due(80s, given));
}

TEST(AgeLimit, OfZeroNeverWarns) {
    const AgeLimit limit{0s};
    std::uint8_t given = 0;
    EXPECT_FALSE(limit.is_set());
    EXPECT_FALSE(limit.is_due(24h, given));
}

TEST(AgeLimit, CountsTheAgeOfYears) {
    const AgeLimit limit{1ns};
    EXPECT_EQ(limit.warnings_at(core::Nanoseconds::max()), 63);
    EXPECT_EQ(limit.warnings_at(-1s), 0);
}

}  // namespace
}  // namespace mortise::detail
