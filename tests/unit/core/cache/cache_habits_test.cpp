#include "core/cache/cache_habits.hpp"

#include <chrono>

#include <gtest/gtest.h>

#include "core/locks/limits.hpp"

namespace mortise::core {
namespace {

using namespace std::chrono_literals;

class CacheHabitsTest : public testing::Test {
protected:
    void release(int times) {
        for (; times > 0; --times)
            habits_.released("a", now_);
    }
    [[nodiscard]] bool is_worth_it() const { return habits_.tokens("a", now_) != 0; }

    Instant now_{1'000'000'000};
    CacheHabits habits_{1s, 3};
};

TEST_F(CacheHabitsTest, ANameIsCachedWhenItIsTakenTwiceInARow) {  // S43
    EXPECT_FALSE(is_worth_it());
    release(1);
    EXPECT_TRUE(is_worth_it());
    EXPECT_EQ(habits_.tokens("b", now_), 0U);
}

TEST_F(CacheHabitsTest, ALongBreakEndsTheRow) {
    release(1);
    now_ = now_ + 1s;
    EXPECT_TRUE(is_worth_it());
    now_ = now_ + 1ns;
    EXPECT_FALSE(is_worth_it());
    habits_.recalled("a", now_);
    release(1);
    now_ = now_ + 2s;
    release(1);
    EXPECT_FALSE(is_worth_it());
}

TEST_F(CacheHabitsTest, EachRecallDoublesWhatIsNeeded) {  // S41
    release(1);
    for (const int needed : {2, 4, 8, 16, 32, 64, 64}) {
        habits_.recalled("a", now_);
        release(needed - 1);
        EXPECT_FALSE(is_worth_it()) << needed;
        release(1);
        EXPECT_TRUE(is_worth_it()) << needed;
    }
}

TEST_F(CacheHabitsTest, AnUndisturbedGrantMakesUpForTheRecalls) {
    habits_.recalled("a", now_);
    habits_.recalled("a", now_);
    habits_.dropped("a", now_);
    release(1);
    EXPECT_TRUE(is_worth_it());
}

TEST_F(CacheHabitsTest, AGrantThatIsUsedUpIsFollowedByALargerOne) {  // S39
    release(1);
    const auto first = habits_.tokens("a", now_);
    habits_.used_up("a", now_);
    EXPECT_GT(habits_.tokens("a", now_), first);
    for (int i = 0; i < 10; ++i)
        habits_.used_up("a", now_);
    EXPECT_EQ(habits_.tokens("a", now_), cached_tokens_max);
}

TEST_F(CacheHabitsTest, OnlyTheNewestNamesAreRemembered) {
    for (const auto* name : {"a", "b", "c"})
        habits_.released(name, now_);
    habits_.released("a", now_);
    habits_.released("d", now_);
    EXPECT_EQ(habits_.size(), 3U);
    EXPECT_NE(habits_.tokens("a", now_), 0U);
    EXPECT_EQ(habits_.tokens("b", now_), 0U);
    EXPECT_NE(habits_.tokens("c", now_), 0U);
    EXPECT_NE(habits_.tokens("d", now_), 0U);
}

}  // namespace
}  // namespace mortise::core
