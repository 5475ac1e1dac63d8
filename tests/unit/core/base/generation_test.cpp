// Which of two runs of a node counts.
#include "core/base/generation.hpp"

#include <gtest/gtest.h>

namespace mortise::core {
namespace {

constexpr Generation run(std::uint64_t incarnation, std::uint64_t boot_epoch, std::uint64_t life) {
    return {Incarnation{incarnation}, BootEpoch{boot_epoch}, life};
}

TEST(Generation, IsSetWithADirectoryAndAStart) {
    EXPECT_TRUE(run(7, 1, 0).is_set());
    EXPECT_FALSE(run(7, 0, 5).is_set());
    EXPECT_FALSE(run(0, 1, 5).is_set());
    EXPECT_FALSE(Generation{}.is_set());
}

TEST(Generation, IsOutlivedByALaterStartOfItsDirectory) {  // P8
    EXPECT_TRUE(run(7, 3, 30).is_outlived_by(run(7, 4, 40)));
    EXPECT_TRUE(run(7, 3, 30).is_earlier_than(run(7, 4, 40)));
    EXPECT_FALSE(run(7, 4, 40).is_outlived_by(run(7, 3, 30)));
    EXPECT_FALSE(run(7, 4, 40).is_earlier_than(run(7, 3, 30)));
}

// Of two copies of a directory each is outlived by the other: the one that was known first counts.
TEST(Generation, IsOutlivedByACopyOfTheSameStart) {  // P8
    EXPECT_TRUE(run(7, 3, 30).is_outlived_by(run(7, 3, 31)));
    EXPECT_TRUE(run(7, 3, 31).is_outlived_by(run(7, 3, 30)));
    EXPECT_FALSE(run(7, 3, 30).is_earlier_than(run(7, 3, 31)));
    EXPECT_TRUE(run(7, 3, 30).is_same_start(run(7, 3, 31)));
    EXPECT_NE(run(7, 3, 30), run(7, 3, 31));
}

TEST(Generation, IsNotOutlivedByItself) {
    EXPECT_FALSE(run(7, 3, 30).is_outlived_by(run(7, 3, 30)));
    EXPECT_EQ(run(7, 3, 30), run(7, 3, 30));
}

TEST(Generation, HasNothingToDoWithAnotherDirectory) {
    for (const auto other : {run(8, 2, 20), run(8, 3, 30), run(8, 4, 40), Generation{}}) {
        EXPECT_FALSE(run(7, 3, 30).is_outlived_by(other));
        EXPECT_FALSE(run(7, 3, 30).is_earlier_than(other));
        EXPECT_FALSE(run(7, 3, 30).is_same_start(other));
    }
}

TEST(Generation, HasNoLifeInTheLog) {
    EXPECT_EQ(run(7, 3, 30).start(), run(7, 3, 0));
}

}  // namespace
}  // namespace mortise::core
