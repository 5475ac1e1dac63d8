#include "transport/outcome_queue.hpp"

#include <gtest/gtest.h>

#include "core/base/prng.hpp"
#include "transport/wire_size.hpp"

namespace mortise::transport {
namespace {

using core::LogIndex;

core::Outcome queued(std::uint64_t seq) {
    return core::Queued{{core::SessionId{1}, core::Seq{seq}}};
}

OutcomeBatch batch(std::uint64_t index, std::uint64_t outcomes, std::uint64_t& seq) {
    OutcomeBatch batch{LogIndex{index}, {}};
    for (std::uint64_t i = 0; i < outcomes; ++i)
        batch.outcomes.push_back(queued(++seq));
    return batch;
}

TEST(OutcomeQueue, HasNothingToTellAtFirst) {
    OutcomeQueue queue{LogIndex{5}};
    EXPECT_FALSE(queue.take());
}

TEST(OutcomeQueue, TellsOfProgressWithoutOutcomesOnce) {
    OutcomeQueue queue{LogIndex{5}};
    ASSERT_TRUE(queue.push(LogIndex{8}, {}));
    ASSERT_TRUE(queue.push(LogIndex{9}, {{LogIndex{9}, {}}}));
    const auto call = queue.take();
    ASSERT_TRUE(call);
    EXPECT_TRUE(call->batches.empty());
    EXPECT_EQ(call->applied, LogIndex{9});
    EXPECT_FALSE(queue.take());
}

TEST(OutcomeQueue, GathersWhatWaitsIntoOneCall) {
    std::uint64_t seq = 0;
    OutcomeQueue queue{LogIndex{0}};
    ASSERT_TRUE(queue.push(LogIndex{1}, {batch(1, 2, seq)}));
    ASSERT_TRUE(queue.push(LogIndex{4}, {batch(3, 1, seq), batch(4, 1, seq)}));
    const auto call = queue.take();
    ASSERT_TRUE(call);
    EXPECT_EQ(call->batches.size(), 3U);
    EXPECT_EQ(call->applied, LogIndex{4});
    EXPECT_EQ(queue.bytes(), 0U);
}

TEST(OutcomeQueue, CutsAnEntryOverCallsAndAppliedWaitsForItsEnd) {
    std::uint64_t seq = 0;
    const auto each = wire_words(queued(1)) * word_bytes;
    OutcomeQueue queue{LogIndex{6}, {.call_bytes_max = 2 * each}};
    ASSERT_TRUE(queue.push(LogIndex{9}, {batch(7, 5, seq)}));
    std::vector<std::size_t> sizes;
    std::vector<std::uint64_t> applied;
    while (const auto call = queue.take()) {
        sizes.push_back(call->batches.at(0).outcomes.size());
        applied.push_back(call->applied.raw());
    }
    EXPECT_EQ(sizes, (std::vector<std::size_t>{2, 2, 1}));
    EXPECT_EQ(applied, (std::vector<std::uint64_t>{6, 6, 9}));
}

TEST(OutcomeQueue, TellsEveryOutcomeOnceInOrderHoweverItIsCut) {
    core::Prng prng{9};
    for (int run = 0; run < 200; ++run) {
        OutcomeQueue queue{LogIndex{0}, {.call_bytes_max = 1 + prng.below(400)}};
        std::uint64_t made = 0;
        std::uint64_t told = 0;
        LogIndex told_index;
        LogIndex applied;
        for (std::uint64_t index = 1; index <= 30; ++index) {
            if (!prng.one_in(3)) {
                ASSERT_TRUE(queue.push(LogIndex{index}, {batch(index, prng.below(9), made)}));
            }
            while (!prng.one_in(4)) {
                const auto call = queue.take();
                if (!call) break;
                for (const auto& each : call->batches) {
                    ASSERT_GE(each.index, told_index);
                    ASSERT_GT(each.index, applied);
                    told_index = each.index;
                    for (const auto& outcome : each.outcomes)
                        ASSERT_EQ(std::get<core::Queued>(outcome).operation.seq.raw(), ++told);
                }
                ASSERT_GE(call->applied, applied);
                applied = call->applied;
            }
        }
        while (const auto call = queue.take()) {
            for (const auto& each : call->batches)
                told += each.outcomes.size();
        }
        EXPECT_EQ(told, made);
        EXPECT_EQ(queue.bytes(), 0U);
    }
}

TEST(OutcomeQueue, SaysWhenTheClientIsTooSlow) {
    std::uint64_t seq = 0;
    const auto each = wire_words(queued(1)) * word_bytes;
    OutcomeQueue queue{LogIndex{0}, {.bytes_max = 3 * each}};
    EXPECT_TRUE(queue.push(LogIndex{1}, {batch(1, 3, seq)}));
    EXPECT_FALSE(queue.push(LogIndex{2}, {batch(2, 1, seq)}));
}

}  // namespace
}  // namespace mortise::transport
