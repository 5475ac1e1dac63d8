#include "core/node/fair_queue.hpp"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/locks/limits.hpp"

namespace mortise::core {
namespace {

constexpr SessionId a{1};
constexpr SessionId b{2};
constexpr SessionId c{3};

class FairQueueTest : public testing::Test {
protected:
    void add(SessionId turn, std::size_t names = 1, std::size_t bytes = 10) {
        queue.add({turn, Bytes{std::string(bytes, 'x')}, 1, names});
    }
    void add_many(SessionId turn, std::size_t batches, std::size_t names = 1) {
        for (std::size_t i = 0; i < batches; ++i)
            add(turn, names);
    }
    // The names of each that are taken next.
    std::map<SessionId, std::size_t> take(std::size_t names) {
        std::map<SessionId, std::size_t> taken;
        for (std::size_t sum = 0; sum < names && !queue.empty(); queue.pop_front()) {
            taken[queue.front().turn] += queue.front().names;
            sum += queue.front().names;
        }
        return taken;
    }

    FairQueue queue;
};

TEST_F(FairQueueTest, WhatOneSessionSendsStaysInItsOrder) {
    for (const std::size_t bytes : {30, 10, 20, 5})
        add(a, 1 + bytes % 3, bytes);
    std::vector<std::size_t> taken;
    for (; !queue.empty(); queue.pop_front())
        taken.push_back(queue.front().bytes.size());
    EXPECT_EQ(taken, (std::vector<std::size_t>{30, 10, 20, 5}));
}

TEST_F(FairQueueTest, EachSessionGetsTheSameHoweverMuchItHasWaiting) {
    add_many(a, 1'000);
    add_many(b, 100);
    add_many(c, 50);
    const auto taken = take(90);
    EXPECT_EQ(taken.at(a), 30U);
    EXPECT_EQ(taken.at(b), 30U);
    EXPECT_EQ(taken.at(c), 30U);
}

// What counts is the work, and not the number of batches.
TEST_F(FairQueueTest, LargeBatchesHaveTheirTurnLessOften) {
    add_many(a, 100, 64);
    add_many(b, 1'000, 2);
    const auto taken = take(1'280);
    EXPECT_NEAR(static_cast<double>(taken.at(a)), 640, 64);
    EXPECT_NEAR(static_cast<double>(taken.at(b)), 640, 64);
}

TEST_F(FairQueueTest, ManyBytesAreAsMuchWorkAsManyNames) {
    for (int i = 0; i < 10; ++i)
        add(a, 1, batch_bytes_max);
    add_many(b, 1'000);
    EXPECT_GE(take(entry_commands_max).at(b), entry_commands_max - 2);
}

TEST_F(FairQueueTest, WhoComesLaterWaitsForOneBatchOfEachOther) {
    add_many(a, 1'000, entry_commands_max);
    add_many(b, 1'000, entry_commands_max);
    (void)take(20 * entry_commands_max);
    add(c);
    std::size_t before = 0;
    for (; queue.front().turn != c; queue.pop_front())
        ++before;
    EXPECT_LE(before, 2U);
}

// Otherwise a session that was silent for a while could keep all others out.
TEST_F(FairQueueTest, NobodySavesTurnsUp) {
    add_many(a, 1'000);
    (void)take(500);
    add_many(b, 500);
    const auto taken = take(100);
    EXPECT_EQ(taken.at(a), 50U);
    EXPECT_EQ(taken.at(b), 50U);
}

// Nor does anybody pay for having had much when nobody else wanted anything.
TEST_F(FairQueueTest, NobodyPaysForTurnsThatNobodyWanted) {
    add_many(a, 1'000);
    (void)take(1'000);
    ASSERT_TRUE(queue.empty());
    add_many(b, 100);
    add_many(a, 100);
    const auto taken = take(100);
    EXPECT_EQ(taken.at(a), 50U);
    EXPECT_EQ(taken.at(b), 50U);
}

TEST_F(FairQueueTest, WhatConcernsNoSessionHasOneTurn) {
    add_many(a, 100);
    add_many({}, 100);
    EXPECT_EQ(take(100).at(a), 50U);
}

TEST_F(FairQueueTest, KnowsWhatWaits) {
    add(a, 3, 100);
    add(a, 4, 20);
    add(b, 5, 7);
    EXPECT_EQ(queue.bytes(), 127U);
    EXPECT_EQ(queue.names(), 12U);
    EXPECT_EQ(queue.bytes_of(a), 120U);
    EXPECT_EQ(queue.bytes_of(b), 7U);
    EXPECT_EQ(queue.bytes_of(c), 0U);
    while (!queue.empty())
        queue.pop_front();
    EXPECT_EQ(queue.bytes(), 0U);
    EXPECT_EQ(queue.names(), 0U);
    EXPECT_EQ(queue.bytes_of(a), 0U);
}

}  // namespace
}  // namespace mortise::core
