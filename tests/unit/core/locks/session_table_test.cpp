#include "core/locks/session_table.hpp"

#include <gtest/gtest.h>

#include "core/base/prng.hpp"

namespace mortise::core {
namespace {

OpenSession opening(std::uint64_t nonce, std::uint64_t incarnation, std::uint64_t epoch) {
    OpenSession open;
    open.nonce = nonce;
    open.incarnation = Incarnation{incarnation};
    open.boot_epoch = BootEpoch{epoch};
    return open;
}

TEST(SeqSet, RemembersInAnyOrder) {
    SeqSet seen;
    EXPECT_FALSE(seen.contains(Seq{1}));
    EXPECT_TRUE(seen.insert(Seq{3}));
    EXPECT_TRUE(seen.insert(Seq{1}));
    EXPECT_FALSE(seen.contains(Seq{2}));
    EXPECT_TRUE(seen.insert(Seq{2}));
    EXPECT_FALSE(seen.insert(Seq{1}));
    EXPECT_FALSE(seen.insert(Seq{3}));
    EXPECT_TRUE(seen.contains(Seq{3}));
    EXPECT_FALSE(seen.contains(Seq{4}));
}

TEST(SeqSet, ZeroNumbersNothingNew) {
    SeqSet seen;
    EXPECT_FALSE(seen.insert(Seq{}));
    EXPECT_TRUE(seen.contains(Seq{}));
}

TEST(SeqSet, AgreesWithAnOrdinarySet) {
    Prng prng{7};
    SeqSet seen;
    std::set<std::uint64_t> expected;
    for (int i = 0; i < 3'000; ++i) {
        const auto number = 1 + prng.below(1'000);
        EXPECT_EQ(seen.insert(Seq{number}), expected.insert(number).second);
    }
    for (std::uint64_t number = 1; number <= 1'000; ++number) {
        EXPECT_EQ(seen.contains(Seq{number}), expected.contains(number));
    }
}

TEST(Session, ForgetsTheAnswersGivenUpToAnIndex) {  // S17
    Session session;
    session.keep_answer(LogIndex{4}, Seq{1}, {AnswerKind::busy, {}, {}});
    session.keep_answer(LogIndex{5}, Seq{3}, {AnswerKind::released, {}, {}});
    session.keep_answer(LogIndex{7}, Seq{2}, {AnswerKind::not_held, {}, {}});
    session.acknowledge(LogIndex{3});
    EXPECT_EQ(session.answers.size(), 3U);
    session.acknowledge(LogIndex{5});
    ASSERT_EQ(session.answers.size(), 1U);
    EXPECT_TRUE(session.answers.contains(Seq{2}));
    session.acknowledge(LogIndex{2});
    EXPECT_EQ(session.answers.size(), 1U);
    session.acknowledge(LogIndex{99});
    EXPECT_TRUE(session.answers.empty());
}

TEST(SessionTable, NeverUsesAnIdAgain) {  // S1
    SessionTable table;
    const auto first = table.open(opening(1, 1, 1), LogIndex{1}).id;
    EXPECT_EQ(table.remove(first).id, first);
    const auto second = table.open(opening(2, 1, 1), LogIndex{2}).id;
    EXPECT_GT(second, first);
    EXPECT_EQ(table.find(first), nullptr);
    ASSERT_NE(table.find(second), nullptr);
    EXPECT_EQ(table.find(second)->renewed_at, LogIndex{2});
    EXPECT_EQ(table.find(second)->renewal_number, 0U);
}

TEST(SessionTable, FindsByNonceWhileTheSessionLives) {
    SessionTable table;
    const auto id = table.open(opening(77, 1, 1), LogIndex{1}).id;
    ASSERT_NE(table.find_by_nonce(77), nullptr);
    EXPECT_EQ(table.find_by_nonce(77)->id, id);
    EXPECT_EQ(table.find_by_nonce(78), nullptr);
    table.remove(id);
    EXPECT_EQ(table.find_by_nonce(77), nullptr);
}

TEST(SessionTable, RemembersTheNewestEpochOfAnIncarnation) {  // S10
    SessionTable table;
    table.open(opening(1, 5, 3), LogIndex{1});
    const auto id = table.open(opening(2, 5, 4), LogIndex{2}).id;
    table.open(opening(3, 6, 9), LogIndex{3});
    table.remove(id);
    EXPECT_EQ(table.newest_epoch(Incarnation{5}), BootEpoch{4});
    EXPECT_EQ(table.newest_epoch(Incarnation{6}), BootEpoch{9});
    EXPECT_FALSE(table.newest_epoch(Incarnation{7}).is_set());
}

}  // namespace
}  // namespace mortise::core
