#include <type_traits>

#include <gtest/gtest.h>

#include <mortise/testing.hpp>
#include <mortise/testing/link_proxy.hpp>

TEST(TestkitFormerName, MeansTheSame) {
    EXPECT_TRUE((std::is_same_v<mortise::testing::LocalCluster, mortise::testkit::LocalCluster>));
    EXPECT_TRUE((std::is_same_v<mortise::testing::LinkProxy, mortise::testkit::LinkProxy>));
    EXPECT_EQ(&mortise::testing::quick_timing, &mortise::testkit::quick_timing);
}
