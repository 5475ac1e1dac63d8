// The marks of time: which of them are kept, and how well they tell the time of an entry.
#include "core/locks/table/clock_marks.hpp"

#include <algorithm>
#include <deque>

#include <gtest/gtest.h>

#include "core/base/prng.hpp"

namespace mortise::core {
namespace {

constexpr std::uint64_t second = 1'000;
constexpr std::uint64_t begin = 1'800'000'000'000;

class ClockMarksTest : public ::testing::Test {
protected:
    void add(std::uint64_t index, std::uint64_t ms) { marks_.add(LogIndex{index}, ms); }
    [[nodiscard]] std::uint64_t time_of(std::uint64_t index) const {
        return marks_.time_of(LogIndex{index}).value_or(0);
    }
    ClockMarks marks_;
};

TEST_F(ClockMarksTest, TellTheTimeOfEntriesFromTheFirstOn) {
    EXPECT_FALSE(marks_.time_of(LogIndex{5}));
    add(5, begin);
    add(8, begin + 3 * second);
    EXPECT_FALSE(marks_.time_of(LogIndex{4}));
    EXPECT_EQ(time_of(5), begin);
    EXPECT_EQ(time_of(7), begin);
    EXPECT_EQ(time_of(8), begin + 3 * second);
    EXPECT_EQ(time_of(1'000), begin + 3 * second);
}

TEST_F(ClockMarksTest, AreASecondApartAndNeverFall) {
    add(5, begin);
    add(6, begin + second - 1);
    add(7, begin - 5 * second);
    add(8, 1);
    EXPECT_EQ(marks_.all().size(), 1U);
    add(9, begin + second);
    EXPECT_EQ(marks_.all().size(), 2U);
    add(9, begin + 5 * second);  // a second time in one entry
    EXPECT_EQ(marks_.all().size(), 2U);
}

// Whatever a leader said, the next one can say a later time.
TEST_F(ClockMarksTest, ALeapIsBounded) {
    add(1, clock_ms_max);
    EXPECT_EQ(time_of(1), clock_first_ms_max);
    for (std::uint64_t index = 2; index < 5'000; ++index) {
        const auto before = marks_.newest().ms;
        add(index, clock_ms_max);
        ASSERT_EQ(marks_.newest().ms, before + clock_step_ms_max);
    }
    const auto before = marks_.newest().ms;
    add(5'000, before + second);
    EXPECT_EQ(marks_.newest().ms, before + second);
}

TEST_F(ClockMarksTest, AreNoMoreThanTheirBound) {
    for (std::uint64_t i = 1; i <= 3 * clock_marks_max; ++i) {
        add(i, begin + i * second);
        ASSERT_LE(marks_.all().size(), clock_marks_max);
    }
    EXPECT_EQ(marks_.all().size(), clock_marks_max);
    EXPECT_EQ(marks_.all().front().index, LogIndex{1});
    EXPECT_EQ(marks_.newest().index, LogIndex{3 * clock_marks_max});
}

// The greatest error of an age, in thousandths of it, beyond a second.
std::uint64_t worst_error(const ClockMarks& marks) {
    std::uint64_t worst = 0;
    const auto now = marks.newest().ms;
    for (std::size_t i = 1; i < marks.all().size(); ++i) {
        // An entry just before the mark `i` is shown with the time of the one before that.
        const auto age = now - marks.all()[i].ms;
        const auto shown = now - marks.all()[i - 1].ms;
        const auto error = shown - age;
        if (error > 2 * second) worst = std::max(worst, (error - second) * 1'000 / (age + second));
    }
    return worst;
}

TEST_F(ClockMarksTest, ShowAnAgeWithinTwoPercentForADay) {
    for (std::uint64_t i = 1; i <= 86'400; ++i) {
        add(i, begin + i * second);
        if (i % 1'024 != 0) continue;
        ASSERT_LE(worst_error(marks_), 20U) << i;
    }
}

// Ten years of a cluster in which something happens at times that nobody foresees.
TEST_F(ClockMarksTest, ShowAnAgeWithinTwoPercentForTenYears) {
    Prng prng{3};
    const std::uint64_t end = begin + std::uint64_t{3'650} * 86'400 * second;
    std::uint64_t index = 0;
    for (auto ms = begin; ms < end;) {
        add(++index, ms);
        // A few in a row, then a pause of up to six hours.
        ms += prng.one_in(4) ? 1 + prng.below(21'600'000) : second + prng.below(1'800'000);
        if (index % 4'096 == 0 && index > 4 * clock_marks_max) {
            std::uint64_t worst = 0;
            const auto now = marks_.newest().ms;
            const auto& all = marks_.all();
            for (std::size_t i = 1; i + 1 < all.size(); ++i) {
                const auto gap = all[i].ms - all[i - 1].ms;
                const auto age = now - all[i].ms;
                // No thinning makes the pauses of the cluster itself shorter.
                if (gap > 21'600'000 && age != 0) worst = std::max(worst, gap * 1'000 / age);
            }
            ASSERT_LE(worst, 20U) << index;
        }
    }
}

// All replicas thin out in the same way, whenever each has saved.
TEST_F(ClockMarksTest, AreTheSameAfterTheyWereSaved) {
    std::vector<ClockMark> saved;
    ClockMarks loaded;
    for (std::uint64_t i = 1; i <= 2'000; ++i) {
        add(i, begin + i * 7 * second);
        if (i == 1'500) {
            for (const auto& mark : marks_.all())
                ASSERT_TRUE(loaded.restore(mark));
        }
        if (i > 1'500) loaded.add(LogIndex{i}, begin + i * 7 * second);
    }
    EXPECT_EQ(loaded.all(), marks_.all());
}

TEST_F(ClockMarksTest, OnlyThoseThatCanFollowAreLoaded) {
    EXPECT_FALSE(marks_.restore({LogIndex{5}, clock_ms_max + 1}));
    EXPECT_TRUE(marks_.restore({LogIndex{5}, begin}));
    EXPECT_FALSE(marks_.restore({LogIndex{5}, begin + second}));
    EXPECT_FALSE(marks_.restore({LogIndex{6}, begin + second - 1}));
    EXPECT_FALSE(marks_.restore({LogIndex{4}, begin + second}));
    EXPECT_TRUE(marks_.restore({LogIndex{6}, begin + second}));
    for (std::uint64_t i = 2; i < clock_marks_max; ++i)
        ASSERT_TRUE(marks_.restore({LogIndex{5 + i}, begin + i * second}));
    EXPECT_FALSE(marks_.restore({LogIndex{9'999}, begin + 9'999 * second}));
}

TEST_F(ClockMarksTest, KnowWhichOfThemAppearedAndDisappeared) {
    for (std::uint64_t i = 1; i <= clock_marks_max; ++i)
        add(i, begin + i * second);
    EXPECT_EQ(marks_.changes().size(), clock_marks_max);
    marks_.forget_changes();
    add(5'000, begin + 5'000 * second);
    EXPECT_EQ(marks_.changes().size(), 2U);  // and the one that made room
}

}  // namespace
}  // namespace mortise::core
