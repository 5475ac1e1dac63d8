#include "core/base/compact_text.hpp"

#include <string>

#include <gtest/gtest.h>

namespace mortise::core {
namespace {

TEST(CompactText, KeepsTextsOfAnyLength) {
    EXPECT_TRUE(CompactText{}.empty());
    EXPECT_EQ(CompactText{}.view(), "");
    for (const std::size_t size : {0U, 1U, 30U, 31U, 32U, 512U}) {
        const std::string text(size, 'x');
        const CompactText one{text};
        EXPECT_EQ(one.view(), text);
        EXPECT_EQ(one.empty(), size == 0);
    }
    EXPECT_EQ(sizeof(CompactText), 32U);
}

TEST(CompactText, Moves) {
    for (const std::size_t size : {5U, 100U}) {
        CompactText first{std::string(size, 'a')};
        CompactText second{std::move(first)};
        EXPECT_EQ(second.view(), std::string(size, 'a'));
        EXPECT_TRUE(first.empty());  // NOLINT(bugprone-use-after-move): that is the subject
        CompactText third{std::string(70, 'b')};
        third = std::move(second);
        EXPECT_EQ(third.view(), std::string(size, 'a'));
    }
}

}  // namespace
}  // namespace mortise::core
