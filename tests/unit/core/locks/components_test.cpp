#include "core/locks/deadlock/components.hpp"

#include <set>

#include <gtest/gtest.h>

#include "core/base/prng.hpp"

namespace mortise::core {
namespace {

TEST(Components, AnEmptyGraphHasNone) {
    EXPECT_TRUE(components_of({}).empty());
}

TEST(Components, NodesThatReachEachOtherAreInOne) {
    // 0 and 1 lead to each other and on to 2, which leads to itself and on to 3.
    const auto of = components_of({{1}, {0, 2}, {2, 3}, {}});
    EXPECT_EQ(of[0], of[1]);
    EXPECT_EQ((std::set{of[0], of[2], of[3]}.size()), 3U);
}

// The edge leads to a node that already has its component.
TEST(Components, AnEdgeToAFinishedComponentIsIgnored) {
    const auto of = components_of({{1}, {}, {1, 0}});
    EXPECT_EQ((std::set<std::size_t>(of.begin(), of.end()).size()), 3U);
}

TEST(Components, ADeepGraphNeedsNoStack) {
    constexpr std::size_t deep = 1'000'000;
    Graph ring(deep);
    for (std::size_t i = 0; i < deep; ++i)
        ring[i] = {(i + 1) % deep};
    const auto of = components_of(ring);
    EXPECT_EQ(std::set<std::size_t>(of.begin(), of.end()).size(), 1U);
}

// By the definition two nodes are in one component if each can be reached from the other.
TEST(Components, EqualThoseOfTheDefinition) {
    Prng prng{1};
    for (std::size_t round = 0; round < 300; ++round) {
        const auto size = static_cast<std::size_t>(prng.between(1, 9));
        Graph graph(size);
        std::vector<std::vector<bool>> reaches(size, std::vector<bool>(size));
        for (std::size_t i = 0; i < size; ++i)
            reaches[i][i] = true;
        for (auto edges = prng.below(2 * size); edges > 0; --edges) {
            const auto from = static_cast<std::size_t>(prng.below(size));
            const auto to = static_cast<std::size_t>(prng.below(size));
            graph[from].push_back(to);
            reaches[from][to] = true;
        }
        for (std::size_t by = 0; by < size; ++by)
            for (std::size_t from = 0; from < size; ++from)
                for (std::size_t to = 0; to < size; ++to)
                    if (reaches[from][by] && reaches[by][to]) reaches[from][to] = true;
        const auto of = components_of(graph);
        for (std::size_t one = 0; one < size; ++one)
            for (std::size_t other = 0; other < size; ++other)
                EXPECT_EQ(of[one] == of[other], reaches[one][other] && reaches[other][one]);
    }
}

}  // namespace
}  // namespace mortise::core
