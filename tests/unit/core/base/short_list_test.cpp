#include "core/base/short_list.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/prng.hpp"

namespace mortise::core {
namespace {

using Strings = ShortList<std::string>;

TEST(ShortList, KeepsOneElementInItself) {
    Strings list;
    EXPECT_TRUE(list.empty());
    list.push_back("one");
    const auto* const first = reinterpret_cast<const std::byte*>(&list.front());
    const auto* const itself = reinterpret_cast<const std::byte*>(&list);
    EXPECT_GE(first, itself);
    EXPECT_LT(first, itself + sizeof(list));
    EXPECT_EQ(&list.front(), &list.back());
}

TEST(ShortList, IsEqualByItsElementsAlone) {
    Strings once_longer{"a", "b"};
    once_longer.pop_back();
    EXPECT_EQ(once_longer, Strings{"a"});
    once_longer.pop_back();
    EXPECT_EQ(once_longer, Strings{});
    EXPECT_NE(Strings{"a"}, Strings{"b"});
    EXPECT_NE((Strings{"a"}), (Strings{"a", "b"}));
}

TEST(ShortList, RemovesWhatIsEqual) {
    Strings list{"a"};
    EXPECT_EQ(list.remove("b"), 0U);
    EXPECT_EQ(list.remove("a"), 1U);
    EXPECT_TRUE(list.empty());
    list = {"a", "b", "a"};
    EXPECT_EQ(list.remove("a"), 2U);
    EXPECT_EQ(list, Strings{"b"});
}

// Compared with std::vector, through copies and moves, mostly with few elements.
TEST(ShortList, HasWhatAVectorHas) {
    Prng prng{3};
    ShortList<std::uint64_t> list;
    std::vector<std::uint64_t> expected;
    for (int step = 0; step < 10'000; ++step) {
        switch (prng.below(6)) {
            case 0:
            case 1:
                expected.push_back(prng.below(4));
                list.push_back(expected.back());
                break;
            case 2:
                if (expected.empty()) break;
                expected.pop_back();
                list.pop_back();
                break;
            case 3: {
                const auto gone = prng.below(4);
                ASSERT_EQ(list.remove(gone), std::erase(expected, gone));
                break;
            }
            case 4: {
                const auto copy = list;
                list.clear();
                list = copy;
                break;
            }
            default: {
                auto moved = std::move(list);
                list = std::move(moved);
            }
        }
        ASSERT_TRUE(std::equal(list.begin(), list.end(), expected.begin(), expected.end()));
        ASSERT_EQ(list.size(), expected.size());
    }
}

}  // namespace
}  // namespace mortise::core
