#include "embed/values/duration_buckets.hpp"

#include <algorithm>
#include <limits>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

std::size_t bucket_by_search(std::uint64_t ns) {
    const auto* const found = std::ranges::lower_bound(duration_bounds, ns);
    return static_cast<std::size_t>(found - duration_bounds.begin());
}

TEST(DurationBuckets, BoundsAreOneTwoAndFiveTimesAPowerOfTen) {
    EXPECT_EQ(DurationHistogram::bound(0), Duration{1us});
    EXPECT_EQ(DurationHistogram::bound(1), Duration{2us});
    EXPECT_EQ(DurationHistogram::bound(2), Duration{5us});
    EXPECT_EQ(DurationHistogram::bound(3), Duration{10us});
    EXPECT_EQ(DurationHistogram::bound(29), Duration{5'000s});
    EXPECT_FALSE(DurationHistogram::bound(30).is_set());
}

TEST(DurationBuckets, TheBucketIsTheOneThatASearchFinds) {
    std::vector<std::uint64_t> samples{0, 1, std::numeric_limits<std::int64_t>::max()};
    for (const auto bound : duration_bounds)
        samples.insert(samples.end(), {bound - 1, bound, bound + 1});
    for (int bits = 0; bits < 64; ++bits) {
        const auto power = std::uint64_t{1} << bits;
        samples.insert(samples.end(), {power - 1, power, power + 1, power + power / 3});
    }
    for (const auto ns : samples)
        EXPECT_EQ(bucket_of(ns), bucket_by_search(ns)) << ns;
}

TEST(DurationBuckets, EachDurationIsCountedOnceAndInTheSum) {
    DurationHistogram histogram;
    count(histogram, 1us);
    count(histogram, 1'001ns);
    count(histogram, 3h);
    count(histogram, -1s);  // two clocks that were not read at once
    EXPECT_EQ(histogram.counts[0], 2U);
    EXPECT_EQ(histogram.counts[1], 1U);
    EXPECT_EQ(histogram.counts[DurationHistogram::bounds_count], 1U);
    EXPECT_EQ(histogram.total(), 4U);
    EXPECT_EQ(histogram.sum_us, 10'800'000'002U);
}

TEST(DurationBuckets, SumsOfHistograms) {
    DurationHistogram sum;
    DurationHistogram more;
    count(sum, 5us);
    count(more, 5us);
    count(more, 1s);
    add(sum, more);
    EXPECT_EQ(sum.counts[2], 2U);
    EXPECT_EQ(sum.total(), 3U);
    EXPECT_EQ(sum.sum_us, 1'000'010U);
}

TEST(DurationBuckets, QuantilesAreTheBoundsOfTheirBuckets) {
    DurationHistogram histogram;
    EXPECT_EQ(histogram.quantile(0.5), Duration::zero());
    for (int i = 0; i < 99; ++i)
        count(histogram, 15us);
    count(histogram, 40ms);
    EXPECT_EQ(histogram.quantile(0), Duration{20us});
    EXPECT_EQ(histogram.quantile(0.5), Duration{20us});
    EXPECT_EQ(histogram.quantile(0.99), Duration{20us});
    EXPECT_EQ(histogram.quantile(0.995), Duration{50ms});
    EXPECT_EQ(histogram.quantile(1), Duration{50ms});
    count(histogram, 2h);
    EXPECT_FALSE(histogram.quantile(1).is_set());
}

TEST(DurationBuckets, ThreadsThatCountTogetherLoseNothing) {
    constexpr std::uint64_t times = 20'000;
    SharedHistogram shared;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (std::uint64_t n = 0; n < times; ++n)
                shared.count(3us);
        });
    }
    for (auto& thread : threads)
        thread.join();
    EXPECT_EQ(shared.read().counts[2], 4 * times);
    EXPECT_EQ(shared.read().sum_us, 12 * times);
}

}  // namespace
}  // namespace mortise::detail
