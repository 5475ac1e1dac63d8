#include "core/base/prng.hpp"

#include <array>
#include <limits>

#include <gtest/gtest.h>

namespace mortise::core {
namespace {

// The published sequence of SplitMix64, so that a seed gives the same run everywhere.
TEST(Prng, IsSplitMix64) {
    Prng prng{1234567};
    EXPECT_EQ(prng.next(), 6457827717110365317U);
    EXPECT_EQ(prng.next(), 3203168211198807973U);
    EXPECT_EQ(prng.next(), 9817491932198370423U);
}

TEST(Prng, RepeatsFromTheSameSeed) {
    Prng a{42};
    Prng b{42};
    Prng c{43};
    bool differs = false;
    for (int i = 0; i < 100; ++i) {
        const auto drawn = a.next();
        EXPECT_EQ(drawn, b.next());
        differs = differs || drawn != c.next();
    }
    EXPECT_TRUE(differs);
}

TEST(Prng, DrawsEveryNumberBelowABound) {
    Prng prng{1};
    std::array<int, 7> seen{};
    for (int i = 0; i < 7000; ++i)
        ++seen.at(prng.below(7));
    for (const auto count : seen) {
        EXPECT_GT(count, 800);
        EXPECT_LT(count, 1200);
    }
    EXPECT_EQ(prng.below(1), 0U);
    EXPECT_EQ(prng.below(0), 0U);
}

TEST(Prng, DrawsBothEndsOfARange) {
    Prng prng{2};
    bool low = false;
    bool high = false;
    for (int i = 0; i < 1000; ++i) {
        const auto drawn = prng.between(-3, 4);
        ASSERT_GE(drawn, -3);
        ASSERT_LE(drawn, 4);
        low = low || drawn == -3;
        high = high || drawn == 4;
    }
    EXPECT_TRUE(low && high);
    EXPECT_EQ(prng.between(9, 9), 9);
}

TEST(Prng, StaysInsideTheWidestRange) {
    Prng prng{3};
    const auto max = std::numeric_limits<std::int64_t>::max();
    for (int i = 0; i < 1000; ++i)
        EXPECT_GE(prng.between(0, max), 0);
}

TEST(Prng, OneInSoMany) {
    Prng prng{4};
    int hits = 0;
    for (int i = 0; i < 10'000; ++i)
        hits += prng.one_in(10) ? 1 : 0;
    EXPECT_NEAR(hits, 1000, 150);
    EXPECT_FALSE(prng.one_in(0));
    EXPECT_TRUE(prng.one_in(1));
}

}  // namespace
}  // namespace mortise::core
