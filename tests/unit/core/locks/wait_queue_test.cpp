#include "core/locks/wait_queue.hpp"

#include <gtest/gtest.h>

#include "core/base/check.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

Waiter waiter(std::uint64_t index, LockMode mode, std::uint32_t place = 0) {
    return {{LogIndex{index}, place}, {SessionId{1}, Seq{index * 100 + place}}, mode, "label"};
}

TEST(WaitQueue, StartsEmpty) {
    const WaitQueue queue;
    EXPECT_TRUE(queue.is_empty());
    EXPECT_FALSE(queue.has_readers());
    EXPECT_EQ(queue.oldest(), nullptr);
    EXPECT_EQ(queue.oldest(true), nullptr);
    EXPECT_EQ(queue.oldest(exclusive), nullptr);
    EXPECT_TRUE(queue.in_order().empty());
}

TEST(WaitQueue, OrdersByEntryThenByPlaceInIt) {
    WaitQueue queue;
    queue.add(waiter(7, exclusive, 1));
    queue.add(waiter(7, shared, 0));
    queue.add(waiter(9, shared));
    queue.add(waiter(3, update));

    std::vector<std::uint64_t> order;
    for (const auto* one : queue.in_order())
        order.push_back(one->operation.seq.raw());
    EXPECT_EQ(order, (std::vector<std::uint64_t>{300, 700, 701, 900}));
    EXPECT_EQ(queue.size(), 4U);
    EXPECT_EQ(queue.oldest()->mode, update);
    EXPECT_EQ(queue.oldest(false)->operation.seq, Seq{700});
    EXPECT_EQ(queue.oldest(exclusive)->operation.seq, Seq{701});
}

TEST(WaitQueue, TellsReadersFromWriters) {
    WaitQueue queue;
    queue.add(waiter(1, shared_intent_exclusive));
    EXPECT_FALSE(queue.has_readers());
    EXPECT_EQ(queue.oldest(false), nullptr);
    queue.add(waiter(2, intent_exclusive));
    EXPECT_TRUE(queue.has_readers());
    EXPECT_EQ(queue.oldest(false)->mode, intent_exclusive);
    EXPECT_EQ(queue.oldest(true)->mode, shared_intent_exclusive);
}

TEST(WaitQueue, NextReaderIsTheOldestBehindThatFits) {
    WaitQueue queue;
    queue.add(waiter(1, shared));
    queue.add(waiter(2, update));
    queue.add(waiter(3, intent_exclusive));
    queue.add(waiter(4, intent_shared));
    queue.add(waiter(5, shared));
    const auto with_shared = [](LockMode mode) { return compatible(shared, mode); };

    const auto* next = queue.next_reader({LogIndex{1}, 0}, with_shared);
    ASSERT_NE(next, nullptr);
    EXPECT_EQ(next->mode, intent_shared);  // neither the writer nor what does not fit
    next = queue.next_reader(next->ticket, with_shared);
    ASSERT_NE(next, nullptr);
    EXPECT_EQ(next->ticket.index, LogIndex{5});
    EXPECT_EQ(queue.next_reader(next->ticket, with_shared), nullptr);
}

TEST(WaitQueue, OnlyOlderOnesAreInTheWay) {
    WaitQueue queue;
    queue.add(waiter(5, exclusive));
    EXPECT_TRUE(queue.is_free_of_older(waiter(4, shared)));
    EXPECT_FALSE(queue.is_free_of_older(waiter(6, shared)));
    EXPECT_FALSE(queue.is_free_of_older(waiter(5, intent_shared, 1)));
    EXPECT_TRUE(queue.is_free_of_older(*queue.oldest()));
}

TEST(WaitQueue, GivesBackWhatItTakesOut) {
    WaitQueue queue;
    queue.add(waiter(1, shared));
    queue.add(waiter(2, shared));
    const auto out = queue.remove({LogIndex{1}, 0}, shared);
    EXPECT_EQ(out.operation.seq, Seq{100});
    EXPECT_EQ(out.label, "label");
    EXPECT_EQ(queue.size(), 1U);
    EXPECT_EQ(queue.oldest()->operation.seq, Seq{200});
    EXPECT_THROW(queue.remove({LogIndex{1}, 0}, shared), InvariantBroken);
    EXPECT_THROW(queue.remove({LogIndex{2}, 0}, exclusive), InvariantBroken);
    EXPECT_THROW(queue.add(waiter(2, shared)), InvariantBroken);
}

}  // namespace
}  // namespace mortise::core
