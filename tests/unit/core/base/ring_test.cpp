#include "core/base/ring.hpp"

#include <deque>
#include <string>

#include <gtest/gtest.h>

#include "core/base/prng.hpp"

namespace mortise::core {
namespace {

TEST(Ring, GivesBackInTheOrderOfArrival) {
    Ring<std::string> ring;
    ring.push_back("one");
    ring.push_back("two");
    EXPECT_EQ(ring[1], "two");
    EXPECT_EQ(ring.pop_front(), "one");
    EXPECT_EQ(ring.pop_front(), "two");
    EXPECT_TRUE(ring.empty());
}

TEST(Ring, GivesNothingWhenItIsEmpty) {
    Ring<int> ring;
    EXPECT_THROW(ring.pop_front(), InvariantBroken);
}

// Compared with std::deque, across the end of the memory and while it grows.
TEST(Ring, HasWhatADequeHas) {
    Prng prng{3};
    Ring<std::uint64_t> ring;
    std::deque<std::uint64_t> expected;
    for (int step = 0; step < 10'000; ++step) {
        if (!expected.empty() && prng.below(5) < 2) {
            ASSERT_EQ(ring.pop_front(), expected.front());
            expected.pop_front();
        } else {
            expected.push_back(prng.next());
            ring.push_back(expected.back());
        }
        ASSERT_EQ(ring.size(), expected.size());
    }
    for (std::size_t at = 0; at < expected.size(); ++at)
        ASSERT_EQ(ring[at], expected[at]);
    ring.clear();
    EXPECT_TRUE(ring.empty());
}

}  // namespace
}  // namespace mortise::core
