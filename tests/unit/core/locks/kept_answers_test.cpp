#include "core/locks/table/kept_answers.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/check.hpp"
#include "core/base/prng.hpp"

namespace mortise::core {
namespace {

Answer answer(AnswerKind kind) {
    return {kind, {}, {}};
}

TEST(KeptAnswers, AreForgottenUpToTheIndexThatWasReceived) {  // S17
    KeptAnswers kept;
    EXPECT_EQ(kept.oldest(), LogIndex{});
    kept.keep(LogIndex{4}, Seq{1}, answer(AnswerKind::busy));
    kept.keep(LogIndex{5}, Seq{3}, answer(AnswerKind::released));
    kept.keep(LogIndex{7}, Seq{2}, answer(AnswerKind::not_held));
    EXPECT_EQ(kept.oldest(), LogIndex{4});
    EXPECT_EQ(kept.newest(), LogIndex{7});
    kept.acknowledge(LogIndex{3});
    EXPECT_EQ(kept.size(), 3U);
    kept.acknowledge(LogIndex{5});
    ASSERT_EQ(kept.size(), 1U);
    EXPECT_EQ(kept.find(Seq{1}), nullptr);
    ASSERT_NE(kept.find(Seq{2}), nullptr);
    EXPECT_EQ(kept.find(Seq{2})->kind, AnswerKind::not_held);
    kept.acknowledge(LogIndex{2});
    EXPECT_EQ(kept.size(), 1U);
    kept.acknowledge(LogIndex{99});
    EXPECT_TRUE(kept.empty());
    EXPECT_EQ(kept.newest(), LogIndex{});
}

TEST(KeptAnswers, AreOnePerRequestAndAscend) {
    KeptAnswers kept;
    kept.keep(LogIndex{4}, Seq{1}, answer(AnswerKind::busy));
    EXPECT_THROW(kept.keep(LogIndex{3}, Seq{2}, answer(AnswerKind::busy)), InvariantBroken);
    kept.keep(LogIndex{5}, Seq{1}, answer(AnswerKind::busy));
    EXPECT_THROW((void)kept.find(Seq{1}), InvariantBroken);
}

// Compares with a list that is searched. Now and then all answers are received at once.
TEST(KeptAnswers, AgreeWithAList) {
    Prng prng{5};
    KeptAnswers kept;
    std::vector<std::tuple<LogIndex, Seq, Answer>> expected;
    std::uint64_t newest = 1;
    LogIndex index{1};
    for (int step = 0; step < 4'000; ++step) {
        if (prng.one_in(2)) index = index.next();
        const Seq seq{++newest ^ 1U};
        const auto given = answer(prng.one_in(2) ? AnswerKind::busy : AnswerKind::released);
        kept.keep(index, seq, given);
        expected.emplace_back(index, seq, given);
        if (prng.one_in(40)) {
            const LogIndex received{index.raw() - prng.below(prng.one_in(4) ? 1 : 30)};
            kept.acknowledge(received);
            std::erase_if(expected, [&](const auto& one) { return std::get<0>(one) <= received; });
        }
        const Seq looked_for{1 + prng.below(newest)};
        const auto found = std::find_if(expected.begin(), expected.end(), [&](const auto& one) {
            return std::get<1>(one) == looked_for;
        });
        ASSERT_EQ(kept.find(looked_for) != nullptr, found != expected.end());
        ASSERT_TRUE(found == expected.end() || *kept.find(looked_for) == std::get<2>(*found));
        ASSERT_EQ(kept.size(), expected.size());
    }
    std::vector<std::tuple<LogIndex, Seq, Answer>> visited;
    kept.each([&](LogIndex at, Seq seq, const Answer& one) { visited.emplace_back(at, seq, one); });
    EXPECT_EQ(visited, expected);
    EXPECT_FALSE(expected.empty());
}

}  // namespace
}  // namespace mortise::core
