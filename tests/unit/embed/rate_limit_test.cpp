#include "embed/host/rate_limit.hpp"

#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

class RateLimitTest : public testing::Test {
protected:
    // How many of `lines` are allowed now.
    std::uint32_t admitted(std::string_view cause, std::uint32_t lines) {
        std::uint32_t count = 0;
        for (std::uint32_t i = 0; i < lines; ++i)
            count += limit.admit(cause, now).has_value() ? 1 : 0;
        return count;
    }

    RateLimit limit;
    RateLimit::Clock::time_point now{1000s};
};

TEST_F(RateLimitTest, LetsABurstThroughAndNoMore) {
    EXPECT_EQ(admitted("a", 100), RateLimit::burst);
    EXPECT_EQ(limit.left_out(), 100 - RateLimit::burst);
}

TEST_F(RateLimitTest, LetsOneMoreThroughNowAndThen) {
    admitted("a", RateLimit::burst);
    now += RateLimit::refill - 1ns;
    EXPECT_EQ(admitted("a", 5), 0U);
    now += 1ns;
    EXPECT_EQ(admitted("a", 5), 1U);
    now += 3 * RateLimit::refill;
    EXPECT_EQ(admitted("a", 5), 3U);
}

TEST_F(RateLimitTest, TellsHowManyWereLeftOut) {
    EXPECT_EQ(limit.admit("a", now), std::optional<std::uint64_t>{0});
    admitted("a", RateLimit::burst - 1 + 7);
    now += RateLimit::refill;
    EXPECT_EQ(limit.admit("a", now), std::optional<std::uint64_t>{7});
    now += RateLimit::refill;
    EXPECT_EQ(limit.admit("a", now), std::optional<std::uint64_t>{0});
}

TEST_F(RateLimitTest, IsFullAgainAfterALongQuietTimeAndNotFuller) {
    admitted("a", 100);
    now += std::chrono::hours{24 * 365};
    EXPECT_EQ(admitted("a", 100), RateLimit::burst);
}

TEST_F(RateLimitTest, CountsEachCauseByItself) {
    admitted("a", 100);
    EXPECT_EQ(admitted("b", 3), 3U);
}

TEST_F(RateLimitTest, RemembersABoundedNumberOfCauses) {
    for (std::size_t i = 0; i < RateLimit::causes_max; ++i) {
        EXPECT_EQ(admitted(std::to_string(i), 1), 1U);
    }
    EXPECT_EQ(admitted("new", RateLimit::burst) + admitted("newer", 1), RateLimit::burst);
    EXPECT_EQ(admitted("0", 1), 1U);
}

}  // namespace
}  // namespace mortise::detail
