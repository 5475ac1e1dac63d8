#include "core/base/id_table.hpp"

#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "core/base/ids.hpp"
#include "core/base/prng.hpp"

namespace mortise::core {
namespace {

using Table = IdTable<Seq, std::string>;

TEST(IdTable, FindsWhatWasInserted) {
    Table table;
    EXPECT_EQ(table.find(Seq{1}), nullptr);
    table.insert(Seq{1}, "one");
    ASSERT_NE(table.find(Seq{1}), nullptr);
    EXPECT_EQ(*table.find(Seq{1}), "one");
    EXPECT_EQ(table.find(Seq{2}), nullptr);
    EXPECT_EQ(table.find(Seq{}), nullptr);
}

TEST(IdTable, TakesAnEntryOnce) {
    Table table;
    table.insert(Seq{1}, "one");
    EXPECT_EQ(table.take(Seq{1}), "one");
    EXPECT_EQ(table.take(Seq{1}), std::nullopt);
    EXPECT_TRUE(table.empty());
}

TEST(IdTable, RefusesAKeyTwice) {
    Table table;
    table.insert(Seq{1}, "one");
    EXPECT_THROW(table.insert(Seq{1}, "again"), InvariantBroken);
    EXPECT_THROW(table.insert(Seq{}, "none"), InvariantBroken);
}

TEST(IdTable, IsVisitedInTurns) {
    Table table;
    for (std::uint64_t key = 1; key <= 20; ++key)
        table.insert(Seq{key}, "new");
    std::size_t slot = 0;
    for (int turn = 1; turn <= 7; ++turn) {
        int left = 3;
        const bool is_over = table.each_from(slot, [&](Seq, std::string& value) {
            if (left-- == 0) return false;
            EXPECT_EQ(std::exchange(value, "seen"), "new");
            return true;
        });
        EXPECT_EQ(is_over, turn == 7);
    }
    table.each([](Seq, const std::string& value) { EXPECT_EQ(value, "seen"); });
}

// Compared with std::map, with colliding keys that are removed in any order.
TEST(IdTable, HasWhatAMapHas) {
    Prng prng{7};
    Table table;
    std::map<Seq, std::string> expected;
    for (int step = 0; step < 20'000; ++step) {
        const Seq key{1 + prng.next() % 300 * (prng.next() % 2 == 0 ? 1 : 65'536)};
        if (expected.contains(key)) {
            EXPECT_EQ(table.take(key), expected.extract(key).mapped());
        } else {
            const auto value = std::to_string(prng.next());
            table.insert(key, value);
            expected.emplace(key, value);
        }
        ASSERT_EQ(table.size(), expected.size());
    }
    std::map<Seq, std::string> visited;
    table.each([&](Seq key, const std::string& value) { visited.emplace(key, value); });
    EXPECT_EQ(visited, expected);
    for (const auto& [key, value] : expected)
        ASSERT_EQ(*table.find(key), value);
}

}  // namespace
}  // namespace mortise::core
