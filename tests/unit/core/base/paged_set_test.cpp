#include "core/base/paged_set.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/check.hpp"
#include "core/base/prng.hpp"

namespace mortise::core {
namespace {

using Numbers = PagedMap<std::uint64_t, std::unique_ptr<std::string>>;

// What is in both, in this order, and found in both.
void expect_same(const Numbers& numbers, const std::map<std::uint64_t, std::string>& model) {
    ASSERT_EQ(numbers.size(), model.size());
    auto expected = model.begin();
    for (const auto& [key, value] : numbers) {
        ASSERT_EQ(key, expected->first);
        ASSERT_EQ(*value, expected->second);
        ++expected;
    }
    ASSERT_EQ(expected, model.end());
}

// Both are asked for the places around the key.
void expect_same_bounds(const Numbers& numbers, const std::map<std::uint64_t, std::string>& model,
                        std::uint64_t key) {
    const auto is_same = [&](Numbers::const_iterator mine, auto other) {
        if (other == model.end()) return mine == numbers.end();
        return mine != numbers.end() && mine->key == other->first;
    };
    ASSERT_EQ(numbers.contains(key), model.contains(key));
    ASSERT_TRUE(is_same(numbers.lower_bound(key), model.lower_bound(key)));
    ASSERT_TRUE(is_same(numbers.upper_bound(key), model.upper_bound(key)));
}

TEST(PagedSet, IsLikeAMap) {
    for (const std::uint64_t range : {10U, 200U, 5'000U}) {
        Prng prng{range};
        Numbers numbers;
        std::map<std::uint64_t, std::string> model;
        for (int i = 0; i < 20'000; ++i) {
            const auto key = prng.below(range);
            // It grows for a while and shrinks for a while.
            const bool adds = prng.below(100) < (i / 4'000 % 2 == 0 ? 65U : 35U);
            if (adds && !model.contains(key)) {
                numbers.insert({key, std::make_unique<std::string>(std::to_string(i))});
                model[key] = std::to_string(i);
            } else if (!adds && model.contains(key)) {
                ASSERT_EQ(*numbers.take(key).value, model.at(key));
                model.erase(key);
            }
            expect_same_bounds(numbers, model, key);
            if (i % 500 == 0) expect_same(numbers, model);
        }
        expect_same(numbers, model);
    }
}

TEST(PagedSet, RefusesAKeyTwiceAndTheLackOfOne) {
    Numbers numbers;
    numbers.insert({1, nullptr});
    EXPECT_THROW(numbers.insert({1, nullptr}), InvariantBroken);
    EXPECT_THROW((void)numbers.take(2U), InvariantBroken);
    EXPECT_EQ(numbers.find(2U), nullptr);
}

TEST(PagedSet, IsEmptyAfterItWasMoved) {
    Numbers numbers;
    numbers.insert({1, nullptr});
    auto moved = std::move(numbers);
    EXPECT_EQ(moved.size(), 1U);
    EXPECT_TRUE(numbers.empty());  // NOLINT(bugprone-use-after-move): that is the subject
    EXPECT_EQ(numbers.begin(), numbers.end());
    moved.clear();
    EXPECT_TRUE(moved.empty());
}

TEST(PagedSet, FindsWordsByTheirBytes) {
    struct Itself {
        std::string_view operator()(const std::string& word) const { return word; }
    };
    PagedSet<std::string, Itself> words;
    for (const auto* word : {"b", "\xff", "a", "ab"})
        words.insert(word);
    EXPECT_EQ((std::vector<std::string>{words.begin(), words.end()}),
              (std::vector<std::string>{"a", "ab", "b", "\xff"}));
    EXPECT_EQ(*words.upper_bound(std::string_view{"a"}), "ab");
}

}  // namespace
}  // namespace mortise::core
