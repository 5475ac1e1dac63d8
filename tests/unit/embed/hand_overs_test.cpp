#include "embed/holds/hand_overs.hpp"

#include <gtest/gtest.h>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

TEST(HandOvers, LastFromTheReleaseToTheGrantOfTheNext) {
    HandOvers hand_overs;
    hand_overs.released(core::FencingToken{7}, core::Instant{100});
    EXPECT_EQ(hand_overs.granted(core::FencingToken{7}, core::Instant{50}, core::Instant{130}),
              30ns);
}

TEST(HandOvers, AreNoneIfNobodyWaitedAtTheRelease) {
    HandOvers hand_overs;
    hand_overs.released(core::FencingToken{7}, core::Instant{100});
    EXPECT_EQ(hand_overs.granted(core::FencingToken{7}, core::Instant{101}, core::Instant{130}),
              std::nullopt);
}

TEST(HandOvers, AreNoneIfAnotherNodeHeldTheLockInBetween) {
    HandOvers hand_overs;
    hand_overs.released(core::FencingToken{7}, core::Instant{100});
    EXPECT_EQ(hand_overs.granted(core::FencingToken{8}, core::Instant{50}, core::Instant{130}),
              std::nullopt);
    EXPECT_EQ(hand_overs.granted(core::FencingToken{0}, core::Instant{50}, core::Instant{130}),
              std::nullopt);  // nobody before
}

TEST(HandOvers, OnlyTheNewestReleasesAreRemembered) {
    HandOvers hand_overs;
    for (std::uint64_t raw = 1; raw <= 300; ++raw)
        hand_overs.released(core::FencingToken{raw}, core::Instant{100});
    EXPECT_EQ(hand_overs.granted(core::FencingToken{1}, core::Instant{50}, core::Instant{130}),
              std::nullopt);
    EXPECT_EQ(hand_overs.granted(core::FencingToken{300}, core::Instant{50}, core::Instant{130}),
              30ns);
}

}  // namespace
}  // namespace mortise::detail
