#include "core/node/pending_reads.hpp"

#include <gtest/gtest.h>

#include "core/base/check.hpp"

namespace mortise::core::test {
namespace {

Call inspect(std::uint64_t tag) {
    InspectCall call;
    call.tag = CallTag{tag};
    return call;
}

struct PendingReadsTest : testing::Test {
    // Asked again at 10, given up at 100.
    void add(std::uint64_t id) { reads.add(ReadId{id}, {inspect(id), {10}, {100}, {}}); }

    PendingReads reads;
};

TEST_F(PendingReadsTest, AsksAgainUntilTheLeaderAnswers) {
    add(1);
    EXPECT_EQ(reads.deadline(), Instant{10});
    EXPECT_TRUE(reads.take_overdue({9}).empty());
    reads.granted(ReadId{1}, LogIndex{5});
    EXPECT_EQ(reads.deadline(), Instant{100});
    EXPECT_TRUE(reads.take_overdue({99}).empty());
    EXPECT_EQ(reads.take_overdue({100}).size(), 1U);
    EXPECT_EQ(reads.deadline(), Instant::never());
    EXPECT_FALSE(reads.take_readable(LogIndex{5})) << "it was given up";
}

TEST_F(PendingReadsTest, AnswersInTheOrderOfTheLog) {
    add(1);
    add(2);
    reads.granted(ReadId{1}, LogIndex{7});
    reads.granted(ReadId{2}, LogIndex{5});
    reads.granted(ReadId{2}, LogIndex{9});  // a repeat
    EXPECT_FALSE(reads.take_readable(LogIndex{4}));
    EXPECT_EQ(tag_of(reads.take_readable(LogIndex{8}).value()), CallTag{2});
    EXPECT_EQ(tag_of(reads.take_readable(LogIndex{8}).value()), CallTag{1});
    EXPECT_FALSE(reads.take_readable(LogIndex{8}));
}

TEST_F(PendingReadsTest, ANewLeaderIsAskedAtOnceForWhatTheOldOneDidNotAnswer) {
    add(1);
    add(2);
    reads.granted(ReadId{1}, LogIndex{5});
    reads.ask_all_again({3});
    EXPECT_EQ(reads.deadline(), Instant{3});
    const auto overdue = reads.take_overdue({3});
    ASSERT_EQ(overdue.size(), 1U);
    EXPECT_EQ(tag_of(overdue[0].call), CallTag{2});
}

TEST_F(PendingReadsTest, CancelsByTag) {
    add(1);
    add(2);
    reads.granted(ReadId{2}, LogIndex{5});
    EXPECT_TRUE(reads.cancel(CallTag{1}));
    EXPECT_TRUE(reads.cancel(CallTag{2}));
    EXPECT_FALSE(reads.cancel(CallTag{2}));
    EXPECT_TRUE(reads.take_all().empty());
}

TEST_F(PendingReadsTest, ATagWaitsOnce) {
    add(1);
    EXPECT_THROW(reads.add(ReadId{2}, {inspect(1), {10}, {100}, {}}), InvariantBroken);
}

}  // namespace
}  // namespace mortise::core::test
