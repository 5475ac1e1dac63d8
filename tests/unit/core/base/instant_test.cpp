#include "core/base/instant.hpp"

#include <gtest/gtest.h>

namespace mortise::core {
namespace {

using namespace std::chrono_literals;

constexpr Instant earliest{std::numeric_limits<std::int64_t>::min()};

TEST(Instant, AddsAndSubtracts) {
    EXPECT_EQ(Instant{5} + 3ns, Instant{8});
    EXPECT_EQ(Instant{5} - 3ns, Instant{2});
    EXPECT_EQ(Instant{5} - Instant{8}, -3ns);
    EXPECT_LT(Instant{5}, Instant{5} + 1ns);
}

// A far deadline must not wrap into the past (B-V15).
TEST(Instant, SaturatesAtTheEndOfTime) {
    EXPECT_EQ(Instant::never() + 1ns, Instant::never());
    EXPECT_EQ(Instant::never() + Nanoseconds::max(), Instant::never());
    EXPECT_EQ(Instant{1} + Nanoseconds::max(), Instant::never());
    EXPECT_EQ(Instant::never() - -1ns, Instant::never());
    EXPECT_EQ(Instant{0} + Nanoseconds::max(), Instant::never());
}

TEST(Instant, SaturatesAtTheBeginningOfTime) {
    EXPECT_EQ(earliest + -1ns, earliest);
    EXPECT_EQ(earliest - 1ns, earliest);
    EXPECT_EQ(Instant{-2} - Nanoseconds::max(), earliest);
}

TEST(Instant, DifferencesSaturate) {
    EXPECT_EQ(Instant::never() - earliest, Nanoseconds::max());
    EXPECT_EQ(earliest - Instant::never(), Nanoseconds::min());
    EXPECT_EQ(Instant::never() - Instant{-1}, Nanoseconds::max());
    EXPECT_EQ(earliest - Instant{1}, Nanoseconds::min());
    EXPECT_EQ(Instant::never() - Instant::never(), 0ns);
}

TEST(Instant, FromTheBeginningOfTimeATimeoutIsLongOver) {
    EXPECT_LT(earliest + 1h, Instant{0});
}

}  // namespace
}  // namespace mortise::core
