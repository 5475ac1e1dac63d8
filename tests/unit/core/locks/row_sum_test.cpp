#include "core/locks/row_sum.hpp"

#include <gtest/gtest.h>

namespace mortise::core {
namespace {

TEST(RowSum, DependsOnTheRowsAndNotOnTheirHistory) {
    RowSum one;
    one.put("a", "1");
    one.put("b", "2");
    RowSum other;
    other.put("b", "7");
    other.put("c", "3");
    other.put("a", "1");
    other.put("b", "2");
    EXPECT_NE(one.value(), other.value());
    other.put("c", std::nullopt);
    EXPECT_EQ(one.value(), other.value());
}

TEST(RowSum, DependsOnEachKeyAndValue) {
    RowSum one;
    one.put("a", "1");
    RowSum value;
    value.put("a", "2");
    RowSum key;
    key.put("b", "1");
    EXPECT_NE(one.value(), value.value());
    EXPECT_NE(one.value(), key.value());
}

TEST(RowSum, IsZeroWithoutRows) {
    RowSum sum;
    sum.put("a", "1");
    sum.put("a", std::nullopt);
    sum.put("b", std::nullopt);
    EXPECT_EQ(sum.value(), RowSum{}.value());
}

}  // namespace
}  // namespace mortise::core
