#include "core/observe/position.hpp"

#include <gtest/gtest.h>

namespace mortise::core {
namespace {

TEST(Position, IsOrderedByTheEntryAndThenByTheChange) {  // S46
    const Position change{LogIndex{7}, 2};
    EXPECT_LT(Position{}, change);
    EXPECT_LT((Position{LogIndex{6}, 900}), change);
    EXPECT_LT(Position::after(LogIndex{6}), change);
    EXPECT_LT(change, Position::after(LogIndex{7}));
}

TEST(Position, IsReadAsItIsWritten) {  // S46
    for (const auto position : {Position{}, Position{LogIndex{7}, 2}, Position::after(LogIndex{7}),
                                Position{LogIndex{~std::uint64_t{0}}, 4'294'967'294U}})
        EXPECT_EQ(position_from(to_text(position)), position) << to_text(position);
    EXPECT_EQ(to_text({LogIndex{4711}, 2}), "4711.2");
    EXPECT_EQ(to_text(Position::after(LogIndex{4711})), "4711");
}

// A text of version 0.2 says nothing of a cluster.
TEST(Position, SaysWhoseStreamItIs) {  // S46
    const Position change{LogIndex{7}, 2, 99};
    EXPECT_EQ(to_text(change), "7.2.99");
    EXPECT_EQ(to_text(Position::after(LogIndex{7}, 99)), "7.0.99");
    for (const auto* text : {"7.2.99", "7.0.99", "7.2.4294967295"}) {
        const auto read = position_from(text);
        ASSERT_TRUE(read) << text;
        EXPECT_EQ(to_text(*read), text);
        EXPECT_TRUE(read->is_foreign_to(read->cluster + 2));
        EXPECT_FALSE(read->is_foreign_to(read->cluster));
        EXPECT_FALSE(read->is_foreign_to(0));
    }
    EXPECT_FALSE(position_from("7.2")->is_foreign_to(101));
    EXPECT_EQ((Position{LogIndex{7}, 2}), change);  // the same place
}

// A node that has not applied the newest era is behind, and no other cluster.
TEST(Position, OfALaterEraIsNotForeign) {  // S46
    const Position change{LogIndex{7}, 2, 99};
    EXPECT_TRUE(change.is_of_later_era(97));
    EXPECT_FALSE(change.is_foreign_to(97));
    EXPECT_FALSE(change.is_of_later_era(99));
    EXPECT_FALSE(change.is_of_later_era(100));
    EXPECT_FALSE(change.is_of_later_era(0));
    EXPECT_FALSE((Position{LogIndex{7}, 2}).is_of_later_era(97));
}

TEST(Position, IsNothingElse) {
    for (const auto* text : {"",
                             ".",
                             "7.",
                             ".2",
                             "7.0",
                             "07",
                             "7.02",
                             "0.1",
                             "-7",
                             " 7",
                             "7 ",
                             "7.4294967295",
                             "7.4294967296",
                             "18446744073709551616",
                             "x",
                             "7.2.",
                             "7.2.0",
                             "7.2.03",
                             "7.2.3.4",
                             "0.0.3",
                             "0.1.3",
                             "7..3",
                             "7.4294967295.3",
                             "7.2.4294967296"})
        EXPECT_FALSE(position_from(text)) << text;
}

}  // namespace
}  // namespace mortise::core
