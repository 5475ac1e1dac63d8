#include "core/locks/table/value_book.hpp"

#include <gtest/gtest.h>

#include "core/locks/limits.hpp"

namespace mortise::core {
namespace {

TEST(ValueBook, CountsVersionsAsLongAsThereIsAValue) {  // S36
    ValueBook book;
    EXPECT_EQ(book.find("a"), nullptr);
    EXPECT_TRUE(book.set("a", "x"));
    EXPECT_TRUE(book.set("a", "y"));
    ASSERT_NE(book.find("a"), nullptr);
    EXPECT_EQ(*book.find("a"), (LockValue{"y", 2, false}));
    EXPECT_TRUE(book.set("a", ""));
    EXPECT_EQ(book.find("a"), nullptr);
    EXPECT_TRUE(book.set("a", ""));
    EXPECT_TRUE(book.set("a", "z"));
    EXPECT_EQ(book.find("a")->version, 1U);
}

TEST(ValueBook, StaysDirtyUntilItIsDeclaredConsistent) {  // S36
    ValueBook book;
    book.mark_dirty("a");
    EXPECT_FALSE(book.mark_consistent("a"));
    book.set("a", "x");
    EXPECT_FALSE(book.find("a")->dirty);
    book.mark_dirty("a");
    book.set("a", "y");
    EXPECT_TRUE(book.find("a")->dirty);
    EXPECT_TRUE(book.mark_consistent("a"));
    EXPECT_FALSE(book.find("a")->dirty);
}

TEST(ValueBook, HasALimitOfBytes) {  // P11
    ValueBook book;
    book.restore("a", {std::string(values_bytes_max - 10, 'x'), 1, false});
    EXPECT_FALSE(book.set("b", std::string(11, 'y')));
    EXPECT_EQ(book.find("b"), nullptr);
    EXPECT_TRUE(book.set("b", std::string(10, 'y')));
    EXPECT_FALSE(book.set("b", std::string(11, 'z')));
    EXPECT_EQ(book.find("b")->bytes, std::string(10, 'y'));
    EXPECT_TRUE(book.set("a", ""));
    EXPECT_TRUE(book.set("b", std::string(11, 'z')));
}

}  // namespace
}  // namespace mortise::core
