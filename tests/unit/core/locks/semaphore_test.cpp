#include "core/locks/kinds/semaphore.hpp"

#include <gtest/gtest.h>

#include "core/base/check.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {
namespace {

TEST(Semaphore, GivesTheLowestFreeSlots) {
    Semaphore semaphore{200};
    semaphore.take(semaphore.lowest_free(130));
    semaphore.give_back({3, 64, 129});
    EXPECT_EQ(semaphore.taken(), 127U);
    EXPECT_EQ(semaphore.lowest_free(4), (Slots{3, 64, 129, 130}));
}

TEST(Semaphore, HasAsManyFreeAsTheLimitAllows) {
    Semaphore semaphore{3};
    EXPECT_TRUE(semaphore.has_free(3));
    EXPECT_FALSE(semaphore.has_free(4));
    semaphore.take({0, 1});
    EXPECT_TRUE(semaphore.has_free(1));
    EXPECT_FALSE(semaphore.has_free(2));
}

TEST(Semaphore, AResizeTakesNoSlotAway) {  // S34
    Semaphore semaphore{3};
    semaphore.take({0, 1, 2});
    semaphore.resize(1);
    EXPECT_EQ(semaphore.taken(), 3U);
    EXPECT_FALSE(semaphore.has_free(1));
    semaphore.give_back({0, 1});
    EXPECT_FALSE(semaphore.has_free(1));
    semaphore.give_back({2});
    EXPECT_TRUE(semaphore.has_free(1));
}

TEST(Semaphore, KnowsWhichSlotsAHoldMayHave) {
    Semaphore semaphore{3};
    semaphore.take({1});
    EXPECT_TRUE(semaphore.are_free({0, 2, 3}));
    EXPECT_TRUE(semaphore.are_free({semaphore_limit_max - 1}));
    EXPECT_FALSE(semaphore.are_free({semaphore_limit_max}));
    EXPECT_FALSE(semaphore.are_free({0, 1}));
    EXPECT_FALSE(semaphore.are_free({2, 0}));
    EXPECT_FALSE(semaphore.are_free({2, 2}));
}

TEST(Semaphore, ASlotIsTakenAndGivenBackOnce) {
    Semaphore semaphore{3};
    semaphore.take({1});
    EXPECT_THROW(semaphore.take({1}), InvariantBroken);
    EXPECT_THROW(semaphore.give_back({0}), InvariantBroken);
}

TEST(Semaphore, ItsVersionGrowsWithEachResize) {
    Semaphore semaphore{3};
    EXPECT_FALSE(semaphore.was_resized());
    semaphore.resize(3);
    EXPECT_EQ(semaphore.version(), 2U);
    EXPECT_TRUE(semaphore.was_resized());
}

}  // namespace
}  // namespace mortise::core
