// Committed entries are handed out in pieces, so that no step has to apply more than one piece
// (P10).
#include <gtest/gtest.h>

#include "core/base/check.hpp"
#include "core/raft/snapshot_sum.hpp"
#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

constexpr std::uint64_t last = 21;

// Node 1 follows node 2, has the whole log, and a piece has three entries.
struct Deciding {
    Deciding() { EXPECT_EQ(weight(commands(log_id(1, 2))), weight(commands(log_id(1, 3)))); }
    static RaftOptions options() {
        auto options = options_of(n1);
        options.decided_bytes_max = 3 * weight(commands(log_id(1, 2)));
        return options;
    }
    void commit(std::uint64_t index) { node.receive(n2, append(1, log_id(1, last), {}, index)); }
    SnapshotChunk state(LogId at) {
        SnapshotChunk chunk{Term{1}, at,   voters({1, 2, 3}), 0, {Row{"key", "value"}}, true,
                            0,       false};
        chunk.checksum = sum_with(0, chunk);
        return chunk;
    }

    HandDriven node{options(), disk_with(voters({1, 2, 3}), {Term{1}, {}},
                                         std::vector<std::uint64_t>(last - 1, 1))};
};

TEST(RaftDeciding, HandsOutAPieceAStepInTheOrderOfTheLog) {
    Deciding it;
    it.commit(last);
    EXPECT_EQ(it.node->commit_index(), LogIndex{last});
    EXPECT_EQ(it.node.committed.size(), 3U);
    int steps = 1;
    for (; it.node->has_decided(); ++steps)
        it.node.timer();
    EXPECT_EQ(steps, 7);
    ASSERT_EQ(it.node.committed.size(), last - 1);
    for (std::size_t i = 0; i < it.node.committed.size(); ++i)
        EXPECT_EQ(it.node.committed[i].id, log_id(1, i + 2));
}

TEST(RaftDeciding, HandsOutNothingThatIsNotCommitted) {
    Deciding it;
    it.commit(3);
    EXPECT_FALSE(it.node->has_decided());
    EXPECT_EQ(it.node.committed.size(), 2U);
}

TEST(RaftDeciding, HandsOutAnEntryThatIsMoreThanAPieceByItself) {
    auto options = Deciding::options();
    options.decided_bytes_max = 1;
    HandDriven node{options, disk_with(voters({1, 2, 3}), {Term{1}, {}}, {1, 1})};
    node.receive(n2, append(1, log_id(1, 3), {}, 3));
    EXPECT_EQ(node.committed.size(), 1U);
    node.timer();
    EXPECT_EQ(node.committed.size(), 2U);
    EXPECT_FALSE(node->has_decided());
}

TEST(RaftDeciding, WhatItOwesToOthersWaitsForNoPiece) {
    Deciding it;
    it.commit(last);
    ASSERT_TRUE(it.node->has_decided());
    EXPECT_EQ(it.node.newest<AppendReply>(n2).match, LogIndex{last});
    it.node.now = it.node.now + 2 * election_timeout;
    it.node.receive(n3, VoteRequest{Term{2}, 1, log_id(1, last)});
    it.node.complete_writes();
    EXPECT_TRUE(it.node.newest<VoteReply>(n3).granted);
    EXPECT_TRUE(it.node->has_decided());
}

// This replica still needs it to apply it.
TEST(RaftDeciding, KeepsWhatWasNotHandedOut) {
    Deciding it;
    it.commit(last);
    it.node.purge_to(4);
    EXPECT_THROW(it.node.purge_to(last), InvariantBroken);
}

// B-S2: entries applied after the last chunk of a snapshot would change the wrong state.
TEST(RaftDeciding, HandsOutNothingMoreWhileAStateTakesTheirPlace) {
    Deciding it;
    it.commit(last);
    const auto handed_out = it.node.committed.size();
    it.node.receive(n2, it.state(log_id(1, 40)));
    ASSERT_TRUE(it.node->is_installing());
    EXPECT_FALSE(it.node->has_decided());
    it.node.timer();
    EXPECT_EQ(it.node.committed.size(), handed_out);
    ASSERT_TRUE(it.node.state_installed(log_id(1, 40)));
    EXPECT_FALSE(it.node->has_decided());
    it.node.receive(n2, append(1, log_id(1, 40), {commands(log_id(1, 41))}, 41));
    EXPECT_EQ(it.node.committed.size(), handed_out + 1);
    EXPECT_EQ(it.node.committed.back().id, log_id(1, 41));
}

TEST(RaftDeciding, ALeaderKnowsWhenWhatCameBeforeItWasHandedOut) {
    Deciding it;
    it.node.timer_when_due();
    const auto asked = it.node.newest<PreVoteRequest>(n2);
    it.node.receive(n2, PreVoteReply{Term{1}, asked.round, true});
    it.node.complete_writes();
    const auto vote = it.node.newest<VoteRequest>(n2);
    it.node.receive(n2, VoteReply{Term{2}, vote.round, true});
    it.node.complete_writes();
    it.node.receive(n2, accepts(2, last + 1));
    ASSERT_TRUE(it.node->has_committed_own_term());
    ASSERT_TRUE(it.node->has_decided());
    EXPECT_FALSE(it.node->has_handed_out_own_term());
    while (it.node->has_decided()) {
        EXPECT_FALSE(it.node->has_handed_out_own_term());
        it.node.timer();
    }
    EXPECT_EQ(it.node.committed.back().id, log_id(2, last + 1));
    EXPECT_TRUE(it.node->has_handed_out_own_term());
}

}  // namespace
}  // namespace mortise::core::test
