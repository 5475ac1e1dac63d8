#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mortise/detail/told_once.hpp>

namespace mortise::detail {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ToldOnce, NamesAllMembersThatHaveTheSameProblem) {
    EXPECT_THAT(
        told_once({{"a:1", "cannot connect to a:1: refused"},
                   {"b:2", "cannot connect to b:2: refused"},
                   {"c:3", "it is another cluster"},
                   {"d:4", "cannot connect to d:4: refused"},
                   {"e:5", "it is another cluster"}}),
        ElementsAre("cannot connect to a:1, b:2, d:4: refused", "c:3, e:5: it is another cluster"));
}

TEST(ToldOnce, KeepsWhatDiffers) {
    EXPECT_THAT(told_once({{"a:1", "cannot connect to a:1: refused"},
                           {"a:17", "cannot connect to a:17: timed out"}}),
                ElementsAre("cannot connect to a:1: refused", "cannot connect to a:17: timed out"));
    EXPECT_THAT(told_once({}), IsEmpty());
    EXPECT_EQ(told_in_one_line({{"a:1", "x"}, {"b:2", "y"}}), "a:1: x; b:2: y");
}

TEST(ToldOnce, NamesAMemberOnce) {
    EXPECT_THAT(told_once({{"a:1", "refused"}, {"a:1", "refused"}}), ElementsAre("a:1: refused"));
    EXPECT_THAT(told_once({{"", "no address"}}), ElementsAre(": no address"));
}

}  // namespace
}  // namespace mortise::detail
