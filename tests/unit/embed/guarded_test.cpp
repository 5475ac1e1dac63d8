#include "embed/threads/guarded.hpp"

#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

namespace mortise {
namespace {

static_assert(!std::is_copy_constructible_v<Guarded<int>>);

TEST(Guarded, GivesTheValueToWhoHasTheLock) {
    Guarded<std::string> text{"abc"};
    text.with([](std::string& value) { value += 'd'; });
    const auto& as_const = text;
    EXPECT_EQ(as_const.with([](const std::string& value) { return value; }), "abcd");
}

TEST(Guarded, LosesNoUpdateOfManyThreads) {
    Guarded<int> count{0};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&count] {
                for (int j = 0; j < 10'000; ++j)
                    count.with([](int& value) { ++value; });
            });
        }
    }
    EXPECT_EQ(count.with([](int value) { return value; }), 40'000);
}

TEST(Guarded, IsFreeAgainAfterAnException) {
    Guarded<int> value{1};
    EXPECT_THROW(value.with([](int&) { throw 1; }), int);
    EXPECT_EQ(value.with([](int inside) { return inside; }), 1);
}

}  // namespace
}  // namespace mortise
