#include "tools/mortise/bench/latency.hpp"

#include <gtest/gtest.h>

namespace mortise::cli {
namespace {

using std::chrono::nanoseconds;

TEST(Latency, WithoutSamplesIsZero) {
    EXPECT_EQ(Latency{}.quantiles().count, 0U);
    EXPECT_EQ(Latency{}.quantiles().max, nanoseconds{0});
}

TEST(Latency, WithOneSampleIsThatSample) {
    Latency latency;
    latency.add(nanoseconds{7});
    const auto quantiles = latency.quantiles();
    EXPECT_EQ(quantiles.p50, nanoseconds{7});
    EXPECT_EQ(quantiles.p999, nanoseconds{7});
    EXPECT_EQ(quantiles.max, nanoseconds{7});
}

TEST(Latency, QuantilesAreSamples) {
    Latency latency;
    for (int i = 1000; i >= 1; --i)
        latency.add(nanoseconds{i});
    const auto quantiles = latency.quantiles();
    EXPECT_EQ(quantiles.count, 1000U);
    EXPECT_EQ(quantiles.p50, nanoseconds{500});
    EXPECT_EQ(quantiles.p90, nanoseconds{900});
    EXPECT_EQ(quantiles.p99, nanoseconds{990});
    EXPECT_EQ(quantiles.p999, nanoseconds{999});
    EXPECT_EQ(quantiles.max, nanoseconds{1000});
}

TEST(Latency, AFewSamplesHaveTheirSlowestAtTheTop) {
    Latency latency;
    for (const int i : {1, 2, 3})
        latency.add(nanoseconds{i});
    const auto quantiles = latency.quantiles();
    EXPECT_EQ(quantiles.p50, nanoseconds{2});
    EXPECT_EQ(quantiles.p90, nanoseconds{3});
}

TEST(Latency, SurvivesJson) {
    Latency latency;
    latency.add(nanoseconds{1});
    latency.add(nanoseconds{5'000'000'000});
    const auto before = latency.quantiles();
    const auto after = quantiles_in(json_of(before));
    EXPECT_EQ(after.count, before.count);
    EXPECT_EQ(after.p50, before.p50);
    EXPECT_EQ(after.max, before.max);
}

}  // namespace
}  // namespace mortise::cli
