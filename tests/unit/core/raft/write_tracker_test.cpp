#include "core/raft/write_tracker.hpp"

#include <gtest/gtest.h>

#include "core/base/check.hpp"
#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

// A tracker and a log, of which only the last index matters.
class Tracked {
public:
    explicit Tracked(std::uint64_t durable)
        : tracker{{Term{1}, {}}, LogIndex{durable}}, last_{durable} {}

    // Entries up to `last` follow the existing ones, or those that a truncation from `from` left.
    WriteId append_to(std::uint64_t last, std::optional<std::uint64_t> from = {}) {
        Write write;
        if (from) {
            write.truncate_from = LogIndex{*from};
            last_ = *from - 1;
        }
        while (last_ < last)
            write.append.push_back(commands(log_id(2, ++last_)));
        return submit(write);
    }
    WriteId hard_state(HardState state) {
        Write write;
        write.hard_state = state;
        return submit(write);
    }
    [[nodiscard]] std::uint64_t durable() const { return tracker.durable().raw(); }

    WriteTracker tracker;

private:
    WriteId submit(Write& write) {
        tracker.submit(write, LogIndex{last_}, start);
        return write.id;
    }

    std::uint64_t last_;
};

TEST(WriteTracker, CountsAWriteOnceItIsComplete) {
    Tracked disk{4};
    EXPECT_EQ(disk.durable(), 4U);
    const auto write = disk.append_to(7);
    EXPECT_EQ(disk.durable(), 4U);
    disk.tracker.complete(write);
    EXPECT_EQ(disk.durable(), 7U);
    EXPECT_EQ(disk.tracker.in_flight(), 0U);
}

TEST(WriteTracker, NumbersWritesInOrder) {
    Tracked disk{0};
    const auto first = disk.append_to(1);
    EXPECT_TRUE(first.is_set());
    EXPECT_EQ(disk.append_to(2), first.next());
}

// B-D6: any order other than that of submission is refused, and changes nothing.
TEST(WriteTracker, RefusesPermutedCompletions) {
    std::vector<int> order{0, 1, 2, 3};
    do {
        Tracked disk{0};
        std::vector<WriteId> writes;
        for (std::uint64_t last = 1; last <= 4; ++last)
            writes.push_back(disk.append_to(last));
        int done = 0;
        for (const auto next : order) {
            const auto id = writes[static_cast<std::size_t>(next)];
            if (next == done) {
                disk.tracker.complete(id);
                ++done;
            } else {
                EXPECT_THROW(disk.tracker.complete(id), InvariantBroken);
            }
            EXPECT_EQ(disk.durable(), static_cast<std::uint64_t>(done));
        }
    } while (std::ranges::next_permutation(order).found);
}

TEST(WriteTracker, RefusesACompletionTwiceOrOfNothing) {
    Tracked disk{0};
    EXPECT_THROW(disk.tracker.complete(WriteId{1}), InvariantBroken);
    const auto write = disk.append_to(1);
    disk.tracker.complete(write);
    EXPECT_THROW(disk.tracker.complete(write), InvariantBroken);
}

// B-D10: the durable index falls when the truncation is submitted, not when it completes.
TEST(WriteTracker, ATruncationLowersTheMarkAtOnce) {
    Tracked disk{10};
    const auto write = disk.append_to(8, 7);
    EXPECT_EQ(disk.durable(), 6U);
    disk.tracker.complete(write);
    EXPECT_EQ(disk.durable(), 8U);
}

// B-D10, B-D11: W1 appends 5-10, W2 truncates at 7 and appends 7'-8'. W1's completion, which comes
// after W2's submission, says nothing about 7' and 8', nor about 9 and 10.
TEST(WriteTracker, AnEarlierCompletionDoesNotRaiseTheMarkOverATruncation) {  // P4
    Tracked disk{4};
    const auto w1 = disk.append_to(10);
    const auto w2 = disk.append_to(8, 7);
    EXPECT_EQ(disk.durable(), 4U);
    disk.tracker.complete(w1);
    EXPECT_EQ(disk.durable(), 6U);
    disk.tracker.complete(w2);
    EXPECT_EQ(disk.durable(), 8U);
}

TEST(WriteTracker, EveryTruncationLowersEveryEarlierWrite) {
    Tracked disk{4};
    const auto w1 = disk.append_to(10);
    const auto w2 = disk.append_to(12, 9);
    const auto w3 = disk.append_to(6, 6);
    disk.tracker.complete(w1);
    EXPECT_EQ(disk.durable(), 5U);
    disk.tracker.complete(w2);
    EXPECT_EQ(disk.durable(), 5U);
    disk.tracker.complete(w3);
    EXPECT_EQ(disk.durable(), 6U);
}

TEST(WriteTracker, ATruncationAloneLowersTheMark) {
    Tracked disk{4};
    const auto w1 = disk.append_to(10);
    const auto w2 = disk.append_to(0, 3);
    disk.tracker.complete(w1);
    disk.tracker.complete(w2);
    EXPECT_EQ(disk.durable(), 2U);
}

TEST(WriteTracker, HardStateAlonePromisesNothingOfTheLog) {
    Tracked disk{4};
    const auto entries = disk.append_to(9);
    const auto vote = disk.hard_state({Term{2}, n3});
    disk.tracker.complete(entries);
    EXPECT_EQ(disk.tracker.hard_state(), (HardState{Term{1}, {}}));
    disk.tracker.complete(vote);
    EXPECT_EQ(disk.tracker.hard_state(), (HardState{Term{2}, n3}));
    EXPECT_EQ(disk.durable(), 9U);
}

TEST(WriteTracker, HardStateBetweenAppendAndTruncationDoesNotReviveEntries) {
    Tracked disk{10};
    const auto vote = disk.hard_state({Term{2}, n3});
    const auto entries = disk.append_to(7, 7);
    disk.tracker.complete(vote);
    EXPECT_EQ(disk.durable(), 6U);
    disk.tracker.complete(entries);
    EXPECT_EQ(disk.durable(), 7U);
}

TEST(WriteTracker, HardStateCountsInItsOwnOrder) {
    Tracked disk{0};
    const auto first = disk.hard_state({Term{2}, n2});
    const auto second = disk.hard_state({Term{3}, {}});
    disk.tracker.complete(first);
    EXPECT_EQ(disk.tracker.hard_state(), (HardState{Term{2}, n2}));
    disk.tracker.complete(second);
    EXPECT_EQ(disk.tracker.hard_state(), (HardState{Term{3}, {}}));
}

TEST(WriteTracker, WaitsSinceItsOldestWrite) {
    WriteTracker tracker{{}, {}};
    EXPECT_EQ(tracker.waiting_since(), std::nullopt);
    Write first;
    Write second;
    tracker.submit(first, {}, start);
    tracker.submit(second, {}, start + 5ms);
    EXPECT_EQ(tracker.waiting_since(), start);
    tracker.complete(first.id);
    EXPECT_EQ(tracker.waiting_since(), start + 5ms);
    tracker.complete(second.id);
    EXPECT_EQ(tracker.waiting_since(), std::nullopt);
}

}  // namespace
}  // namespace mortise::core::test
