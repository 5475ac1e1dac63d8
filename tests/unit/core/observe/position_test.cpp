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

TEST(Position, IsNothingElse) {
    for (const auto* text : {"", ".", "7.", ".2", "7.0", "07", "7.02", "0.1", "7.2.3", "-7", " 7",
                             "7 ", "7.4294967295", "7.4294967296", "18446744073709551616", "x"})
        EXPECT_FALSE(position_from(text)) << text;
}

}  // namespace
}  // namespace mortise::core
