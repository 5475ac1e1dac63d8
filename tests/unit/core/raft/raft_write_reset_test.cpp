// What counts as durable around a reset: the log begins anew where a received snapshot ends, while
// writes of the former log, or of a former snapshot, may be in progress (B-D14).
#include <gtest/gtest.h>

#include "core/raft/snapshot_sum.hpp"
#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

WriteId submit(WriteTracker& tracker, Write write, std::uint64_t last) {
    tracker.submit(write, LogIndex{last}, start);
    return write.id;
}
WriteId append_one(WriteTracker& tracker, std::uint64_t index) {
    Write write;
    write.append.push_back(commands(log_id(2, index)));
    return submit(tracker, std::move(write), index);
}
WriteId reset_to(WriteTracker& tracker, std::uint64_t index) {
    Write write;
    write.reset = LogBase{log_id(2, index), voters({1, 2, 3})};
    return submit(tracker, std::move(write), index);
}

TEST(RaftWriteReset, TakesBackAtOnceWhatWasDurable) {
    WriteTracker tracker{{Term{1}, {}}, LogIndex{10}};
    const auto reset = reset_to(tracker, 20);
    EXPECT_EQ(tracker.durable(), LogIndex{});
    tracker.complete(reset);
    EXPECT_EQ(tracker.durable(), LogIndex{20});
}

TEST(RaftWriteReset, AnEarlierCompletionSaysNothingOfTheNewLog) {
    WriteTracker tracker{{Term{1}, {}}, LogIndex{10}};
    const auto before = append_one(tracker, 11);
    const auto reset = reset_to(tracker, 20);
    const auto after = append_one(tracker, 21);
    tracker.complete(before);
    EXPECT_EQ(tracker.durable(), LogIndex{});
    tracker.complete(reset);
    EXPECT_EQ(tracker.durable(), LogIndex{20});
    tracker.complete(after);
    EXPECT_EQ(tracker.durable(), LogIndex{21});
}

TEST(RaftWriteReset, OfTwoOnlyTheLastCounts) {  // P4
    WriteTracker tracker{{Term{1}, {}}, LogIndex{10}};
    const auto first = reset_to(tracker, 20);
    const auto second = reset_to(tracker, 40);
    tracker.complete(first);
    EXPECT_EQ(tracker.durable(), LogIndex{});
    tracker.complete(second);
    EXPECT_EQ(tracker.durable(), LogIndex{40});
}

// --- the same, as the leader sees it

SnapshotChunk whole_state(LogId last) {
    SnapshotChunk chunk{Term{2}, last, voters({1, 2, 3}), 0, {Row{"key", "value"}}, true, 0};
    chunk.checksum = sum_with(0, chunk);
    return chunk;
}

// Node 3 has so many entries of term 1 and follows node 1, which leads term 2.
HandDriven follower_with(std::size_t entries) {
    HandDriven node{options_of(n3), disk_with(voters({1, 2, 3}), {Term{2}, {}},
                                              std::vector<std::uint64_t>(entries, 1))};
    node.receive(n1, append(2, log_id(1, 1)));
    node.sent.clear();
    return node;
}

TEST(RaftWriteReset, NothingIsClaimedOfASecondStateWhenTheFirstIsDurable) {
    auto node = follower_with(2);
    node.receive(n1, whole_state(log_id(2, 20)));
    ASSERT_TRUE(node.state_installed(log_id(2, 20)));
    node.sent.clear();
    node.receive(n1, whole_state(log_id(2, 40)));
    ASSERT_TRUE(node.state_installed(log_id(2, 40)));
    ASSERT_EQ(node.writes.size(), 2U);
    node.sent.clear();
    node.complete_write();
    EXPECT_EQ(node->durable_index(), LogIndex{});
    for (const auto& reply : node.take<SnapshotReply>(n1))
        EXPECT_FALSE(reply.installed);
    for (const auto& reply : node.take<AppendReply>(n1))
        EXPECT_LT(reply.match, LogIndex{20});
    node.complete_write();
    EXPECT_TRUE(node.newest<SnapshotReply>(n1).installed);
    EXPECT_EQ(node->durable_index(), LogIndex{40});
}

// B-S1: entries after the snapshot's end that follow another entry belong to a log that lost.
TEST(RaftWriteReset, AConflictingTailAboveTheStateGoesWithTheLog) {
    auto node = follower_with(30);
    ASSERT_GT(node->log().last().index, LogIndex{20});
    node.receive(n1, whole_state(log_id(2, 20)));
    ASSERT_TRUE(node.state_installed(log_id(2, 20)));
    EXPECT_EQ(node->log().last(), log_id(2, 20));
    EXPECT_EQ(node->log().bytes(), 0U);
    EXPECT_EQ(node->uncommitted_bytes(), 0U);
    node.complete_writes();
    node.crash_and_restart();
    EXPECT_EQ(node->log().last(), log_id(2, 20));
    EXPECT_EQ(node->commit_index(), LogIndex{20});
}

}  // namespace
}  // namespace mortise::core::test
