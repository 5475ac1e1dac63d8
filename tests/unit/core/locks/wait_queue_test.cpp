#include "core/locks/table/wait_queue.hpp"

#include <gtest/gtest.h>

#include "core/base/check.hpp"
#include "core/locks/limits.hpp"

namespace mortise::core {
namespace {

using enum LockMode;

Waiter waiter(std::uint64_t index, LockMode mode, Priority priority = 0, std::uint32_t place = 0) {
    return {{LogIndex{index}, place},
            {SessionId{1}, Seq{index * 100 + place}},
            mode,
            priority,
            "label"};
}

class WaitQueueTest : public testing::Test {
protected:
    // The waiters in the order in which they are served.
    static std::vector<std::uint64_t> served(WaitQueue queue) {
        std::vector<std::uint64_t> indexes;
        while (const auto* first = queue.first()) {
            indexes.push_back(first->ticket.index.raw());
            queue.remove(first->ticket);
        }
        return indexes;
    }
    static void overtake(WaitQueue& queue, std::uint64_t from, std::uint64_t count,
                         Priority priority = 1) {
        for (std::uint64_t i = 0; i < count; ++i)
            queue.count_overtaking({LogIndex{from + i}, 0}, priority);
    }
    using Indexes = std::vector<std::uint64_t>;

    WaitQueue queue_{QueuePolicy::phase_fair};
};

TEST_F(WaitQueueTest, StartsEmpty) {
    EXPECT_TRUE(queue_.is_empty());
    EXPECT_EQ(queue_.first(), nullptr);
    EXPECT_EQ(queue_.first_reader(), nullptr);
    EXPECT_EQ(queue_.first_writer(), nullptr);
    EXPECT_TRUE(queue_.in_order().empty());
    EXPECT_TRUE(queue_.is_free_of_earlier(queue_.rank_of_newcomer(exclusive, 0), exclusive));
}

TEST_F(WaitQueueTest, OrdersByEntryThenByPlaceInIt) {  // P9
    queue_.add(waiter(7, exclusive, 0, 1));
    queue_.add(waiter(7, shared));
    queue_.add(waiter(9, shared));
    queue_.add(waiter(3, update));

    std::vector<std::uint64_t> order;
    for (const auto* one : queue_.in_order())
        order.push_back(one->operation.seq.raw());
    EXPECT_EQ(order, (std::vector<std::uint64_t>{300, 700, 701, 900}));
    EXPECT_EQ(served(queue_), (Indexes{3, 7, 7, 9}));
    EXPECT_EQ(queue_.size(), 4U);
    EXPECT_EQ(queue_.first_reader()->operation.seq, Seq{700});
    EXPECT_EQ(queue_.first_writer()->mode, update);
}

TEST_F(WaitQueueTest, TellsReadersFromWriters) {
    queue_.add(waiter(1, shared_intent_exclusive));
    EXPECT_EQ(queue_.first_reader(), nullptr);
    queue_.add(waiter(2, intent_exclusive));
    EXPECT_EQ(queue_.first_reader()->mode, intent_exclusive);
    EXPECT_EQ(queue_.first_writer()->mode, shared_intent_exclusive);
}

TEST_F(WaitQueueTest, OnlyEarlierWaitersAreInFront) {
    queue_.add(waiter(5, exclusive));
    const auto is_free = [&](const Waiter& one) {
        return queue_.is_free_of_earlier(queue_.rank_of(one), one.mode);
    };
    EXPECT_TRUE(is_free(waiter(4, shared)));
    EXPECT_FALSE(is_free(waiter(6, shared)));
    EXPECT_FALSE(is_free(waiter(5, intent_shared, 0, 1)));
    EXPECT_TRUE(is_free(*queue_.first()));
    EXPECT_TRUE(is_free(waiter(6, shared, 1)));  // of a higher class
}

TEST_F(WaitQueueTest, TheFirstUnhinderedConflictsWithNoneBeforeIt) {
    queue_.add(waiter(1, exclusive));
    queue_.add(waiter(2, shared));
    queue_.add(waiter(3, intent_exclusive));
    const auto admits = [](LockMode mode) { return compatible(intent_shared, mode); };
    EXPECT_EQ(queue_.first_unhindered(admits), nullptr);
    queue_.remove({LogIndex{1}, 0});
    EXPECT_EQ(queue_.first_unhindered(admits)->ticket.index, LogIndex{2});
}

TEST_F(WaitQueueTest, ClassesGoBeforeAge) {  // S29
    queue_.add(waiter(1, exclusive));
    queue_.add(waiter(2, shared, 2));
    queue_.add(waiter(3, exclusive, 2));
    queue_.add(waiter(4, exclusive, priority_max));
    EXPECT_EQ(served(queue_), (Indexes{4, 2, 3, 1}));
    EXPECT_LT(queue_.rank_of_newcomer(shared, 3), queue_.rank_of(waiter(2, shared, 2)));
    EXPECT_LT(queue_.rank_of(waiter(2, shared, 2)), queue_.rank_of_newcomer(shared, 2));
}

TEST_F(WaitQueueTest, EightOvertakingsMoveAWaiterUpAClass) {  // S29, P9
    queue_.add(waiter(1, exclusive));
    queue_.add(waiter(5, exclusive));
    queue_.add(waiter(100, exclusive, 1));
    overtake(queue_, 10, 7);
    EXPECT_EQ(served(queue_), (Indexes{100, 1, 5}));
    overtake(queue_, 3, 1);  // older than the second
    EXPECT_EQ(served(queue_), (Indexes{1, 100, 5}));
    overtake(queue_, 20, 1);
    EXPECT_EQ(served(queue_), (Indexes{1, 5, 100}));
}

TEST_F(WaitQueueTest, OvertakenWaitersReachAClassAboveAllPriorities) {  // P9, S29
    WaitQueue queue{QueuePolicy::prefer_readers};
    queue.add(waiter(1, exclusive));
    overtake(queue, 10, 8 * (priority_max + 1) - 1);
    EXPECT_LT(queue.rank_of_newcomer(shared, priority_max), queue.rank_of(*queue.first()));
    overtake(queue, 100, 1);
    EXPECT_LT(queue.rank_of(*queue.first()), queue.rank_of_newcomer(shared, priority_max));
}

TEST_F(WaitQueueTest, KeepsAsManyOvertakersAsCanMatter) {  // P11
    queue_.add(waiter(1, exclusive));
    overtake(queue_, 10, 1'000);
    EXPECT_EQ(queue_.overtakers().size(), 64U);
    EXPECT_EQ(queue_.overtakers().front().index, LogIndex{946});
    queue_.add(waiter(1'005, shared));
    queue_.remove({LogIndex{1}, 0});
    queue_.forget_overtakings();
    EXPECT_EQ(queue_.overtakers().size(), 4U);
    queue_.remove({LogIndex{1'005}, 0});
    queue_.forget_overtakings();
    EXPECT_TRUE(queue_.overtakers().empty());
}

TEST_F(WaitQueueTest, WithoutPrioritiesAndPreferencesNothingIsCounted) {
    queue_.add(waiter(1, exclusive));
    overtake(queue_, 10, 20, 0);
    EXPECT_TRUE(queue_.overtakers().empty());
    WaitQueue prefers{QueuePolicy::prefer_readers};
    prefers.add(waiter(1, exclusive));
    overtake(prefers, 10, 20, 0);
    EXPECT_EQ(prefers.overtakers().size(), 20U);
}

TEST_F(WaitQueueTest, PoliciesPreferWithinAClass) {  // S31
    for (const auto policy : {QueuePolicy::prefer_readers, QueuePolicy::prefer_writers}) {
        WaitQueue queue{policy};
        queue.add(waiter(1, exclusive));
        queue.add(waiter(2, shared));
        queue.add(waiter(3, update));
        queue.add(waiter(4, intent_shared));
        queue.add(waiter(5, exclusive, 1));
        const bool readers = policy == QueuePolicy::prefer_readers;
        EXPECT_EQ(served(queue), readers ? (Indexes{5, 2, 4, 1, 3}) : (Indexes{5, 1, 3, 2, 4}));
    }
}

TEST_F(WaitQueueTest, RestoredOvertakersMustAscend) {
    const WaitQueue::Overtakers one{{LogIndex{5}, 0}};
    EXPECT_FALSE(queue_.restore(one));  // nobody waits
    queue_.add(waiter(1, exclusive));
    EXPECT_FALSE(queue_.restore({{LogIndex{5}, 0}, {LogIndex{5}, 0}}));
    EXPECT_FALSE(queue_.restore(WaitQueue::Overtakers(65, Ticket{})));
    EXPECT_TRUE(queue_.restore({{LogIndex{5}, 0}, {LogIndex{5}, 1}}));
    EXPECT_EQ(queue_.overtakers().size(), 2U);
}

TEST_F(WaitQueueTest, ReturnsTheWaiterThatItRemoves) {
    queue_.add(waiter(1, shared));
    queue_.add(waiter(2, shared));
    const auto out = queue_.remove({LogIndex{1}, 0});
    EXPECT_EQ(out.operation.seq, Seq{100});
    EXPECT_EQ(out.label, "label");
    EXPECT_EQ(queue_.size(), 1U);
    EXPECT_EQ(queue_.first()->operation.seq, Seq{200});
    EXPECT_THROW(queue_.remove({LogIndex{1}, 0}), InvariantBroken);
    EXPECT_THROW(queue_.add(waiter(2, shared)), InvariantBroken);
}

}  // namespace
}  // namespace mortise::core
