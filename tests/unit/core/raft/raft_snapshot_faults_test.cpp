// The transfer of a snapshot when something is wrong with it, or with one of the two nodes: it
// starts again after a while, and nothing stays open for a node that does not answer.
#include <gtest/gtest.h>

#include "core/raft/snapshot_sum.hpp"
#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

// Node 1 leads; node 3 needs purged entries, has just answered, and is being sent a snapshot.
struct Trouble {
    Trouble() {
        cluster.cut(n3);
        for (int i = 0; i < 10; ++i)
            leader.propose();
        cluster.settle();
        leader.purge_to(10);
        cluster.heal(n3);
        cluster.beat(n1);
    }
    void give(const Configuration& configuration, bool done) {
        leader.give_rows(at, configuration, {Row{"key" + std::to_string(++given), "value"}}, done);
    }
    // Heartbeats that node 2 answers, and node 3 as a cut-off follower if it answers.
    void beats(int count, bool third_answers) {
        const auto term = leader->term().raw();
        for (int i = 0; i < count; ++i) {
            leader.timer_in(heartbeat);
            leader.receive(n2, accepts(term, leader->log().last().index.raw()));
            if (third_answers) leader.receive(n3, rejects(term, 10, log_id(term, 2)));
        }
    }

    RaftCluster cluster{1, 2, 3};
    HandDriven& leader{cluster.elect(n1)};
    LogId at = log_id(2, 11);
    int given = 0;
};

constexpr int beats_per_timeout = static_cast<int>(election_timeout / heartbeat);

// B-S7, B-S9
TEST(RaftSnapshotFaults, ARefusedStateIsReadAnewAfterAWhile) {  // P7
    Trouble it;
    it.give(it.leader->configuration(), true);
    it.leader.receive(n3, SnapshotReply{it.leader->term(), it.at, 0, false, true});
    EXPECT_EQ(it.leader.closed, std::vector{n3});
    it.beats(beats_per_timeout / 2, true);
    EXPECT_TRUE(it.leader.reads_asked.empty());
    it.beats(beats_per_timeout, true);
    ASSERT_EQ(it.leader.reads_asked.size(), 1U);
    EXPECT_EQ(it.leader.reads_asked[0].after, std::nullopt);
}

// B-S7: its own state was behind its log, which is temporary.
TEST(RaftSnapshotFaults, AStateThatHelpedNobodyIsReadAgainAfterAWhile) {
    Trouble it;
    it.leader.give_rows(log_id(2, 9), it.leader->configuration(), {Row{"key", "value"}}, true);
    ASSERT_TRUE(it.leader.reads_asked.empty());
    it.beats(beats_per_timeout + 1, true);
    EXPECT_EQ(it.leader.reads_asked.size(), 1U);
    EXPECT_EQ(it.leader.sent_count<SnapshotChunk>(n3), 0U);
}

// B-S5: a view delays the disk's compaction.
TEST(RaftSnapshotFaults, NoViewStaysOpenForWhoIsSilent) {
    Trouble it;
    it.give(it.leader->configuration(), false);
    it.beats(4 * beats_per_timeout, false);
    EXPECT_TRUE(it.leader.closed.empty());
    it.beats(2 * beats_per_timeout, false);
    EXPECT_EQ(it.leader.closed, std::vector{n3});
    EXPECT_EQ(it.leader->oldest_state_sent(), std::nullopt);
    it.beats(2 * beats_per_timeout, false);
    EXPECT_TRUE(it.leader.reads_asked.empty());
    it.beats(1, true);
    EXPECT_EQ(it.leader.reads_asked.size(), 1U);
}

// The reader of the state may be slow: rows of the previous attempt come after this one began.
TEST(RaftSnapshotFaults, RowsOfAnEarlierAttemptAreOfNoUse) {  // P7
    Trouble it;
    it.beats(6 * beats_per_timeout, false);
    it.beats(1, true);
    ASSERT_EQ(it.leader.reads_asked.size(), 2U);
    it.give(it.leader->configuration(), false);
    EXPECT_EQ(it.leader.sent_count<SnapshotChunk>(n3), 0U);
    it.at = log_id(2, 12);
    it.give(it.leader->configuration(), false);
    EXPECT_EQ(it.leader.newest<SnapshotChunk>(n3).last, it.at);
    it.leader.receive(n3, SnapshotReply{it.leader->term(), it.at, 1, false, false});
    it.give(it.leader->configuration(), true);
    EXPECT_EQ(it.leader.newest<SnapshotChunk>(n3).position, 1U);
}

// B-M6: the configuration in force where the state ends, not the newest one.
TEST(RaftSnapshotFaults, AStateIsSentWithTheConfigurationOfItsOwnPlace) {
    Trouble it;
    const Configuration joint{{7, 9}, members({1, 2, 4}), members({1, 2, 3}), {}};
    it.give(joint, false);
    EXPECT_EQ(it.leader.newest<SnapshotChunk>(n3).configuration, joint);
    it.leader.receive(n3, SnapshotReply{it.leader->term(), it.at, 1, false, false});
    it.give(joint, true);
    EXPECT_EQ(it.leader.newest<SnapshotChunk>(n3).configuration, joint);
    EXPECT_EQ(it.leader->configuration(), voters({1, 2, 3}));
}

// B-S2: one takes effect before the next begins.
TEST(RaftSnapshotFaults, NoOtherStateIsBegunWhileOneIsInstalled) {
    HandDriven node{options_of(n3), disk_with(voters({1, 2, 3}), {Term{2}, {}}, {1, 1})};
    const auto whole = [](LogId last) {
        SnapshotChunk chunk{Term{2}, last, voters({1, 2, 3}), 0, {Row{"key", "value"}}, true, 0};
        chunk.checksum = sum_with(0, chunk);
        return chunk;
    };
    node.receive(n1, whole(log_id(2, 20)));
    ASSERT_TRUE(node->is_installing());
    node.receive(n1, whole(log_id(2, 30)));
    EXPECT_EQ(node.install.size(), 1U);
    EXPECT_EQ(node.newest<SnapshotReply>(n1).next, 0U);
    EXPECT_FALSE(node.state_installed(log_id(2, 30)));
    EXPECT_TRUE(node.state_installed(log_id(2, 20)));
    EXPECT_EQ(node->commit_index(), LogIndex{20});
}

// B-C16, B-S9: an invalid chunk does not begin an install.
TEST(RaftSnapshotFaults, NonsenseIsRefusedAtTheDoor) {
    const SnapshotChunk sound{
        Term{2}, log_id(2, 20), voters({1, 2, 3}), 0, {Row{"key", "value"}}, true, 0};
    auto of_no_entry = sound;
    of_no_entry.last = {};
    auto of_a_later_term = sound;
    of_a_later_term.last = log_id(3, 20);
    auto of_no_cluster = sound;
    of_no_cluster.configuration = {};
    auto without_rows = sound;
    without_rows.rows.clear();
    without_rows.done = false;
    auto with_a_removed_row = sound;
    with_a_removed_row.rows[0].value.reset();
    auto with_another_sum = sound;
    with_another_sum.checksum = sum_with(0, sound) + 1;
    for (auto chunk : {of_no_entry, of_a_later_term, of_no_cluster, without_rows,
                       with_a_removed_row, with_another_sum}) {
        HandDriven node{options_of(n3), disk_with(voters({1, 2, 3}), {Term{2}, {}}, {1, 1})};
        if (chunk.checksum == 0) chunk.checksum = sum_with(0, chunk);
        node.receive(n1, chunk);
        EXPECT_TRUE(node.noted(Note::Kind::refused_message) ||
                    node.noted(Note::Kind::refused_chunk));
        EXPECT_TRUE(node.install.empty());
        EXPECT_FALSE(node->is_installing());
    }
}

}  // namespace
}  // namespace mortise::core::test
