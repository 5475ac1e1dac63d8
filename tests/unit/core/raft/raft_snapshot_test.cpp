#include <gtest/gtest.h>

#include "core/raft/snapshot_sum.hpp"
#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

Row row(const std::string& key) {
    return {key, "of " + key};
}

// --- the leader

// Node 1 leads; node 3 needs purged entries, and has just answered.
struct Sending {
    Sending() {
        cluster.cut(n3);
        for (int i = 0; i < 10; ++i)
            leader.propose();
        cluster.settle();
        leader.purge_to(10);
        cluster.heal(n3);
        cluster.beat(n1);
    }
    [[nodiscard]] const Configuration& configuration() { return leader->configuration(); }
    // The replies of node 3.
    void answer(std::uint64_t next, bool installed = false) {
        leader.receive(n3, SnapshotReply{leader->term(), at, next, installed, false});
    }
    void give(std::vector<Row> rows, bool done) {
        leader.give_rows(at, configuration(), std::move(rows), done);
    }
    SnapshotChunk chunk() { return leader.newest<SnapshotChunk>(n3); }

    RaftCluster cluster{1, 2, 3};
    HandDriven& leader{cluster.elect(n1)};
    LogId at = log_id(2, 11);
};

TEST(RaftSendSnapshot, BringsAStateChunkByChunk) {
    Sending it;
    ASSERT_EQ(it.leader.reads_asked.size(), 1U);
    EXPECT_EQ(it.leader.reads_asked[0].after, std::nullopt);
    it.give({row("a"), row("b")}, false);
    EXPECT_EQ(it.chunk().position, 0U);
    it.answer(1);
    ASSERT_EQ(it.leader.reads_asked.size(), 1U);
    EXPECT_EQ(it.leader.reads_asked[0].after, "b");
    it.give({row("c")}, true);
    const auto last = it.chunk();
    EXPECT_EQ(last.position, 1U);
    EXPECT_TRUE(last.done);
    it.answer(2);
    EXPECT_TRUE(it.leader.closed.empty());
    it.answer(0, true);
    EXPECT_EQ(it.leader->progress_of(n3)->state, Progress::State::replicate);
    EXPECT_EQ(it.leader->progress_of(n3)->match, LogIndex{11});
    EXPECT_EQ(it.leader.closed, std::vector{n3});
    // The entries after the snapshot follow.
    EXPECT_EQ(it.leader.newest<AppendRequest>(n3).previous, it.at);
}

TEST(RaftSendSnapshot, SendsALostChunkAgainInTime) {  // B-S7
    Sending it;
    it.give({row("a")}, false);
    EXPECT_EQ(it.chunk().position, 0U);
    it.leader.timer_in(heartbeat);
    EXPECT_EQ(it.leader.sent_count<SnapshotChunk>(n3), 0U);
    it.cluster.beat(n1);
    it.leader.receive(n2, accepts(2, 12));
    it.leader.timer_in(election_timeout - heartbeat);
    it.leader.receive(n2, accepts(2, 12));
    it.leader.timer_in(heartbeat);
    EXPECT_EQ(it.chunk().position, 0U);
}

// B-C10
TEST(RaftSendSnapshot, OldAnswersMoveNothing) {
    Sending it;
    it.give({row("a")}, false);
    it.answer(1);
    it.give({row("b")}, false);
    it.answer(1);
    it.answer(0);
    EXPECT_TRUE(it.leader.reads_asked.empty());
    it.answer(2);
    EXPECT_EQ(it.leader.reads_asked.size(), 1U);
    it.leader.receive(n3, SnapshotReply{it.leader->term(), log_id(2, 9), 3, false, false});
    EXPECT_EQ(it.leader.reads_asked.size(), 1U);
}

// It restarted, and its chunks are gone.
TEST(RaftSendSnapshot, BeginsAnewWithAFollowerThatHasLostWhatItHad) {
    Sending it;
    it.give({row("a")}, false);
    it.answer(1);
    it.give({row("b")}, false);
    for (int i = 0; i < 12; ++i) {
        it.leader.timer_in(heartbeat);
        it.leader.receive(n2, accepts(2, 12));
        it.leader.receive(n3, rejects(2, 10, log_id(2, 2)));
    }
    it.answer(0);
    ASSERT_EQ(it.leader.reads_asked.size(), 1U);
    EXPECT_EQ(it.leader.reads_asked[0].after, std::nullopt);
}

// Chunks that an earlier attempt has delivered are not sent again.
TEST(RaftSendSnapshot, GoesOnWhereTheFollowerIs) {
    Sending it;
    it.give({row("a")}, false);
    it.chunk();
    it.answer(2);
    it.give({row("b")}, false);
    EXPECT_EQ(it.leader.sent_count<SnapshotChunk>(n3), 0U);
    it.give({row("c")}, true);
    EXPECT_EQ(it.chunk().position, 2U);
}

// B-S5
TEST(RaftSendSnapshot, TheViewIsClosedWhenItLeadsNoMore) {
    Sending it;
    it.give({row("a")}, false);
    it.leader.receive(n2, append(9, log_id(2, 12)));
    EXPECT_EQ(it.leader.closed, std::vector{n3});
    EXPECT_EQ(it.leader->oldest_state_sent(), std::nullopt);
}

// B-S12: a follower that receives a snapshot continues from its end.
TEST(RaftSendSnapshot, TellsWhatIsStillNeeded) {
    Sending it;
    EXPECT_EQ(it.leader->oldest_state_sent(), std::nullopt);
    it.give({row("a")}, false);
    EXPECT_EQ(it.leader->oldest_state_sent(), LogIndex{11});
}

TEST(RaftSendSnapshot, AStateFromBeforeTheLogHelpsNobody) {
    Sending it;
    it.leader.give_rows(log_id(2, 9), it.configuration(), {row("a")}, true);
    EXPECT_EQ(it.leader.sent_count<SnapshotChunk>(n3), 0U);
    EXPECT_TRUE(it.leader.reads_asked.empty());  // not at once
}

constexpr std::size_t chunk_bytes = RaftOptions{}.snapshot_bytes_max;

Row long_row(const std::string& key, std::size_t bytes) {
    Row row{key, std::string(bytes, ' ')};
    for (std::size_t i = 0; i < bytes; ++i)
        (*row.value)[i] = static_cast<char>('a' + i * i % 23);
    return row;
}

// B-S7: a row that does not fit in a message could never be sent.
TEST(RaftSendSnapshot, CutsARowThatIsLongerThanAChunk) {
    Sending it;
    const auto row = long_row("a", 2 * chunk_bytes + 1);
    it.give({row}, true);
    std::string value;
    for (std::uint64_t position = 0; position < 3; ++position) {
        const auto chunk = it.chunk();
        ASSERT_EQ(chunk.position, position);
        ASSERT_EQ(chunk.rows.size(), 1U);
        EXPECT_EQ(chunk.rows[0].key, "a");
        EXPECT_LE(chunk.rows[0].value->size(), chunk_bytes);
        EXPECT_EQ(chunk.cut, position < 2);
        EXPECT_EQ(chunk.done, position == 2);
        value += *chunk.rows[0].value;
        it.answer(position + 1);
    }
    EXPECT_EQ(value, row.value);
    EXPECT_TRUE(it.leader.reads_asked.empty());
}

TEST(RaftSendSnapshot, ReadsOnBehindACutRow) {
    Sending it;
    it.give({long_row("a", chunk_bytes + 1)}, false);
    it.answer(1);
    EXPECT_TRUE(it.leader.reads_asked.empty());
    it.answer(2);
    ASSERT_EQ(it.leader.reads_asked.size(), 1U);
    EXPECT_EQ(it.leader.reads_asked[0].after, "a");
    it.give({long_row("b", chunk_bytes)}, true);
    EXPECT_FALSE(it.chunk().cut);
}

TEST(RaftSendSnapshot, GoesOnWithinACutRow) {
    Sending it;
    it.give({row("a")}, false);
    it.chunk();
    it.answer(3);
    it.give({long_row("b", 3 * chunk_bytes)}, true);
    const auto last = it.chunk();
    EXPECT_EQ(last.position, 3U);
    EXPECT_TRUE(last.done);
}

// --- the follower

SnapshotChunk chunk_of(LogId last, std::uint64_t position, std::uint64_t before,
                       std::vector<Row> rows, bool done, std::uint64_t term = 2) {
    SnapshotChunk chunk{Term{term}, last, voters({1, 2, 3}), position, std::move(rows), done, 0};
    chunk.checksum = sum_with(before, chunk);
    return chunk;
}

// Node 3 has three entries and follows node 1 in term 2.
struct Receiving {
    Receiving() {
        node.receive(n1, append(2, log_id(1, 3)));
        node.complete_writes();
        node.sent.clear();
    }
    SnapshotReply reply(NodeId to = n1) { return node.newest<SnapshotReply>(to); }

    HandDriven node{options_of(n3), disk_with(voters({1, 2, 3}), {Term{1}, {}}, {1, 1})};
    LogId last = log_id(2, 20);
    SnapshotChunk first = chunk_of(last, 0, 0, {row("a")}, false);
    SnapshotChunk second = chunk_of(last, 1, first.checksum, {row("b")}, false);
    SnapshotChunk third = chunk_of(last, 2, second.checksum, {row("c")}, true);
};

TEST(RaftReceiveSnapshot, PassesOnWhatComesInOrder) {  // B-S10
    Receiving it;
    it.node.receive(n1, it.second);  // too early
    EXPECT_EQ(it.reply().next, 0U);
    it.node.receive(n1, it.first);
    EXPECT_EQ(it.reply().next, 1U);
    it.node.receive(n1, it.first);  // again
    EXPECT_EQ(it.reply().next, 1U);
    it.node.receive(n1, it.third);
    EXPECT_EQ(it.reply().next, 1U);
    it.node.receive(n1, it.second);
    EXPECT_EQ(it.reply().next, 2U);
    ASSERT_EQ(it.node.install.size(), 2U);
    EXPECT_EQ(it.node.install[0].rows, it.first.rows);
    EXPECT_EQ(it.node.install[1].rows, it.second.rows);
}

// P11: the disk does not keep up. The next chunk comes when it does.
TEST(RaftReceiveSnapshot, WithoutRoomItAsksForNoMore) {
    Receiving it;
    it.node.set_room_for_state(false);
    it.node.receive(n1, it.first);
    it.node.receive(n1, it.first);  // repeated, as a chunk without an answer
    EXPECT_EQ(it.node.sent_count<SnapshotReply>(n1), 0U);
    EXPECT_EQ(it.node.install.size(), 1U);
    it.node.set_room_for_state(true);
    EXPECT_EQ(it.reply().next, 1U);
}

TEST(RaftReceiveSnapshot, WithoutRoomItRefusesAllTheSame) {
    Receiving it;
    it.node.set_room_for_state(false);
    it.first.term = Term{1};
    it.node.receive(n1, it.first);
    EXPECT_TRUE(it.reply().refused);
}

SnapshotChunk cut(SnapshotChunk chunk, std::uint64_t before) {
    chunk.cut = true;
    chunk.checksum = sum_with(before, chunk);
    return chunk;
}

TEST(RaftReceiveSnapshot, PassesOnWholeRows) {
    Receiving it;
    const auto first = cut(chunk_of(it.last, 0, 0, {{"b", "1"}}, false), 0);
    const auto second =
        cut(chunk_of(it.last, 1, 0, {{"b", "2"}, {"c", "x"}}, false), first.checksum);
    const auto third = chunk_of(it.last, 2, second.checksum, {{"c", "y"}}, true);
    it.node.receive(n1, first);
    EXPECT_EQ(it.reply().next, 1U);
    EXPECT_TRUE(it.node.install.empty());
    it.node.receive(n1, second);
    it.node.receive(n1, third);
    ASSERT_EQ(it.node.install.size(), 2U);
    EXPECT_EQ(it.node.install[0].position, 0U);
    EXPECT_EQ(it.node.install[0].rows, (std::vector<Row>{{"b", "12"}}));
    EXPECT_EQ(it.node.install[1].position, 1U);
    EXPECT_EQ(it.node.install[1].rows, (std::vector<Row>{{"c", "xy"}}));
    EXPECT_TRUE(it.node.install[1].done);
}

TEST(RaftReceiveSnapshot, TheRestOfAnotherRowIsRefused) {
    Receiving it;
    const auto first = cut(chunk_of(it.last, 0, 0, {{"b", "1"}}, false), 0);
    it.node.receive(n1, first);
    it.node.receive(n1, chunk_of(it.last, 1, first.checksum, {{"c", "2"}}, true));
    EXPECT_EQ(it.reply().next, 0U);
    EXPECT_TRUE(it.node.install.empty());
}

TEST(RaftReceiveSnapshot, TheLastRowOfAllIsWhole) {
    Receiving it;
    it.node.receive(n1, cut(chunk_of(it.last, 0, 0, {{"b", "1"}}, true), 0));
    EXPECT_TRUE(it.node.install.empty());
    EXPECT_EQ(it.node.notes.back().kind, Note::Kind::refused_message);
}

// B-S6, B-S9
TEST(RaftReceiveSnapshot, AMixtureOfTwoStreamsIsNoticed) {
    Receiving it;
    it.node.receive(n1, it.first);
    const auto other = chunk_of(it.last, 0, 0, {row("z")}, false);
    it.node.receive(n1, chunk_of(it.last, 1, other.checksum, {row("b")}, false));
    EXPECT_EQ(it.reply().next, 0U);
    EXPECT_EQ(it.node.install.size(), 1U);
    it.node.receive(n1, it.first);
    EXPECT_EQ(it.reply().next, 1U);
}

TEST(RaftReceiveSnapshot, ANewLeaderMaySendAnotherState) {  // B-S6
    Receiving it;
    it.node.receive(n1, it.first);
    const auto newer = chunk_of(log_id(2, 30), 0, 0, {row("a")}, false, 3);
    it.node.receive(n2, newer);
    it.node.complete_writes();
    EXPECT_EQ(it.reply(n2).next, 1U);
    EXPECT_EQ(it.node.install.back().last, log_id(2, 30));
    EXPECT_EQ(it.node.install.back().position, 0U);
}

TEST(RaftReceiveSnapshot, ANewLeaderMayGoOnWithTheSameState) {
    Receiving it;
    it.node.receive(n1, it.first);
    auto again = it.second;
    again.term = Term{3};
    it.node.receive(n2, again);
    it.node.complete_writes();
    EXPECT_EQ(it.reply(n2).next, 2U);
}

// B-S1
TEST(RaftReceiveSnapshot, WhatTheLogHasIsKept) {
    Receiving it;
    it.node.receive(n1, chunk_of(log_id(1, 2), 0, 0, {row("a")}, true));
    EXPECT_TRUE(it.node.install.empty());
    EXPECT_TRUE(it.reply().installed);
    EXPECT_EQ(it.node->log().last(), log_id(1, 3));
    EXPECT_EQ(it.node->commit_index(), LogIndex{2});
}

// B-C16
TEST(RaftReceiveSnapshot, AChunkOfAnEarlierTermIsRefused) {
    Receiving it;
    it.node.receive(n1, chunk_of(log_id(1, 20), 0, 0, {row("a")}, true, 1));
    EXPECT_TRUE(it.node.install.empty());
    EXPECT_EQ(it.reply().term, Term{2});
}

// B-S2: between the last chunk and the switch nothing else may change.
TEST(RaftReceiveSnapshot, WhileItInstallsItNeitherAppendsNorCampaigns) {  // B-S11
    Receiving it;
    for (const auto& chunk : {it.first, it.second, it.third})
        it.node.receive(n1, chunk);
    ASSERT_TRUE(it.node->is_installing());
    it.node.receive(n1, append(2, log_id(1, 3), {commands(log_id(2, 4))}));
    EXPECT_EQ(it.node->log().last(), log_id(1, 3));
    // its messages are answered nevertheless
    EXPECT_TRUE(it.node.newest<AppendReply>(n1).rejected);
    it.node.timer_in(5 * election_timeout);
    EXPECT_EQ(it.node->role(), Role::follower);
    it.node.receive(n1, TimeoutNow{Term{2}, log_id(1, 3)});
    EXPECT_EQ(it.node->role(), Role::follower);
}

// B-D19, B-A3: state and log change together, and it reports that when both are on disk.
TEST(RaftReceiveSnapshot, TheLogBeginsWhereTheStateEnds) {
    Receiving it;
    for (const auto& chunk : {it.first, it.second, it.third})
        it.node.receive(n1, chunk);
    EXPECT_FALSE(it.reply().installed);
    EXPECT_TRUE(it.node.state_installed(it.last));
    EXPECT_EQ(it.node->commit_index(), LogIndex{20});
    EXPECT_EQ(it.node->log().last(), it.last);
    EXPECT_EQ(it.node.sent_count<SnapshotReply>(n1), 0U);
    ASSERT_EQ(it.node.writes.size(), 1U);
    EXPECT_EQ(it.node.writes[0].reset, (LogBase{it.last, voters({1, 2, 3})}));
    it.node.complete_writes();
    EXPECT_TRUE(it.reply().installed);
    EXPECT_EQ(it.node->durable_index(), LogIndex{20});
    EXPECT_NE(it.node->deadline(), Instant::never());
    it.node.receive(n1, append(2, it.last, {commands(log_id(2, 21))}, 21));
    it.node.complete_writes();
    EXPECT_EQ(it.node.newest<AppendReply>(n1).match, LogIndex{21});
    EXPECT_EQ(it.node.committed.back().id, log_id(2, 21));
}

// B-M6
TEST(RaftReceiveSnapshot, AJointConfigurationComesWithTheState) {
    Receiving it;
    const Configuration joint{{7, 9}, members({1, 2, 4}), members({1, 2, 3}), members({5})};
    auto only = chunk_of(it.last, 0, 0, {row("a")}, true);
    only.configuration = joint;
    only.checksum = sum_with(0, only);
    it.node.receive(n1, only);
    it.node.state_installed(it.last);
    EXPECT_EQ(it.node->configuration(), joint);
    EXPECT_EQ(it.node.writes.at(0).reset->configuration, joint);
}

TEST(RaftReceiveSnapshot, SurvivesACrashOnEitherSideOfTheSwitch) {
    Receiving it;
    it.node.receive(n1, it.first);
    it.node.crash_and_restart();
    EXPECT_EQ(it.node->log().last(), log_id(1, 3));
    it.node.receive(n1, it.second);
    it.node.complete_writes();
    EXPECT_EQ(it.reply().next, 0U);  // it has no chunk any more
    for (const auto& chunk : {it.first, it.second, it.third})
        it.node.receive(n1, chunk);
    it.node.state_installed(it.last);
    it.node.complete_writes();
    it.node.crash_and_restart();
    EXPECT_EQ(it.node->log().base(), it.last);
    EXPECT_EQ(it.node->commit_index(), LogIndex{20});
}

// B-D14, and nothing of the old log counts any more.
TEST(RaftReceiveSnapshot, AnInstallThatNobodyWaitsForChangesNothing) {
    Receiving it;
    it.node.receive(n1, it.first);
    EXPECT_FALSE(it.node.state_installed(it.last));
    EXPECT_EQ(it.node->log().last(), log_id(1, 3));
}

}  // namespace
}  // namespace mortise::core::test
