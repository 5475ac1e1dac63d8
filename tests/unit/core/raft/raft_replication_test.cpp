#include <optional>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/check.hpp"
#include "tests/support/raft_fixture.hpp"

namespace mortise::core::test {
namespace {

using testing::ElementsAre;

HandDriven follower_with(HardState hard_state, const std::vector<std::uint64_t>& terms) {
    return {options_of(n1), disk_with(voters({1, 2, 3}), hard_state, terms)};
}
HandDriven follower() {
    return follower_with({Term{1}, {}}, {});
}

std::vector<LogId> ids_of(const std::vector<Entry>& entries) {
    std::vector<LogId> ids;
    for (const auto& entry : entries)
        ids.push_back(entry.id);
    return ids;
}

std::vector<LogId> log_of(const Raft& raft) {
    return ids_of(raft.log().slice(raft.log().first_index(), 1U << 30U, 1U << 30U));
}

// Node 1 leads these nodes, and all are quiet; from here on the test delivers messages and
// completes writes.
struct Replicating {
    explicit Replicating(std::initializer_list<std::uint64_t> ids)
        : Replicating{ids, options_of(n1)} {}
    Replicating(std::initializer_list<std::uint64_t> ids, RaftOptions options)
        : cluster{voters(ids), options}, leader{cluster.elect(n1)} {}

    RaftCluster cluster;
    HandDriven& leader;
};

// --- the follower

// B-D4
TEST(RaftReplication, AFollowerAnswersOnceTheEntriesAreDurable) {  // P4
    auto node = follower();
    node.receive(n2, append(1, log_id(1, 1), {commands(log_id(1, 2))}));
    EXPECT_TRUE(node.sent.empty());
    node.complete_write();
    const auto reply = node.newest<AppendReply>(n2);
    EXPECT_FALSE(reply.rejected);
    EXPECT_EQ(reply.match, LogIndex{2});
    EXPECT_TRUE(node.sent.empty());
}

// Between two heartbeats the commit index travels alone, and nobody asks whether it arrived.
TEST(RaftReplication, AFollowerDoesNotAnswerWhatNeedsNoAnswer) {
    auto node = follower();
    node.receive(n2, append(1, log_id(1, 1), {commands(log_id(1, 2))}));
    node.complete_write();
    node.take<AppendReply>(n2);
    auto news = append(1, log_id(1, 2), {}, 2);
    news.quiet = true;
    node.receive(n2, news);
    EXPECT_EQ(node->commit_index(), LogIndex{2});
    EXPECT_TRUE(node.sent.empty());
    node.receive(n2, append(1, log_id(1, 2), {}, 2));  // the same as a heartbeat
    EXPECT_EQ(node.newest<AppendReply>(n2).match, LogIndex{2});
}

// The leader takes it for contact, so it must not come from a follower that does not hear the
// leader.
TEST(RaftReplication, AFollowerRepliesUnaskedOnlyWhileItHearsItsLeader) {
    auto node = follower();
    node.receive(n2, append(1, log_id(1, 1)));
    node.take<AppendReply>(n2);
    node.reply_early_in(2 * heartbeat);
    EXPECT_EQ(node.newest<AppendReply>(n2).match, LogIndex{1});
    EXPECT_TRUE(node.sent.empty());
    node.reply_early_in(1ns);
    EXPECT_TRUE(node.sent.empty());
}

TEST(RaftReplication, AFollowerRejectsWhatItCannotTakeThoughItNeedsNoAnswer) {
    auto node = follower();
    auto news = append(1, log_id(1, 7), {}, 7);
    news.quiet = true;
    node.receive(n2, news);
    EXPECT_TRUE(node.newest<AppendReply>(n2).rejected);
}

// B-D3: changes that belong together are one write.
TEST(RaftReplication, TermTruncationAndEntriesAreOneWrite) {
    auto node = follower_with({Term{2}, {}}, {2, 2});
    node.receive(n3, append(3, log_id(1, 1), {commands(log_id(3, 2))}));
    ASSERT_EQ(node.writes.size(), 1U);
    const auto& write = node.writes.front();
    EXPECT_EQ(write.hard_state, (HardState{Term{3}, {}}));
    EXPECT_EQ(write.truncate_from, LogIndex{2});
    EXPECT_THAT(ids_of(write.append), ElementsAre(log_id(3, 2)));
}

// B-C1, B-C9: an old tail is durable, but this leader has not checked it.
TEST(RaftReplication, AFollowerClaimsOnlyWhatItsLeaderChecked) {
    auto node = follower_with({Term{1}, {}}, {1, 1, 1});
    node.receive(n2, append(3, log_id(1, 2), {}, 4));
    node.complete_writes();
    EXPECT_EQ(node.newest<AppendReply>(n2).match, LogIndex{2});
    EXPECT_EQ(node->commit_index(), LogIndex{2});
    node.receive(n2, append(3, log_id(1, 4), {}, 4));
    EXPECT_EQ(node.newest<AppendReply>(n2).match, LogIndex{4});
    EXPECT_EQ(node->commit_index(), LogIndex{4});
}

// B-C1: what an earlier leader checked is not checked by this one.
TEST(RaftReplication, ANewLeaderChecksAnew) {
    auto node = follower();
    node.receive(n2, append(1, log_id(1, 1), {commands(log_id(1, 2)), commands(log_id(1, 3))}));
    node.complete_writes();
    node.take<AppendReply>(n2);
    node.receive(n3, append(2, log_id(1, 2), {}, 3));
    node.complete_writes();
    EXPECT_EQ(node.newest<AppendReply>(n3).match, LogIndex{2});
    EXPECT_EQ(node->commit_index(), LogIndex{2});
}

TEST(RaftReplication, AFollowerSaysWhereItsLogMayAgree) {
    auto node = follower_with({Term{4}, {}}, {1, 2, 2, 4});
    node.receive(n2, append(5, log_id(3, 9)));
    node.complete_writes();
    const auto reply = node.newest<AppendReply>(n2);
    EXPECT_TRUE(reply.rejected);
    EXPECT_EQ(reply.previous, LogIndex{9});
    EXPECT_EQ(reply.hint, log_id(2, 4));
}

// B-D7: the log is truncated only after a real conflict, and only from there on.
TEST(RaftReplication, TruncatesFromTheConflictOn) {
    auto node = follower_with({Term{2}, {}}, {1, 2, 2});
    node.receive(n3, append(3, log_id(1, 1), {commands(log_id(1, 2)), commands(log_id(3, 3))}));
    EXPECT_EQ(node.writes.front().truncate_from, LogIndex{3});
    EXPECT_THAT(log_of(node.raft()), ElementsAre(log_id(1, 1), log_id(1, 2), log_id(3, 3)));
}

TEST(RaftReplication, AnOldMessageThatIsAPrefixTruncatesNothing) {  // B-C7
    auto node = follower();
    const std::vector<Entry> entries{commands(log_id(1, 2)), commands(log_id(1, 3))};
    node.receive(n2, append(1, log_id(1, 1), entries));
    node.complete_writes();
    node.receive(n2, append(1, log_id(1, 1), {entries[0]}));
    node.receive(n2, append(1, log_id(1, 1)));
    EXPECT_TRUE(node.writes.empty());
    EXPECT_EQ(node->log().last(), log_id(1, 3));
    EXPECT_EQ(node.newest<AppendReply>(n2).match, LogIndex{3});
}

// B-C5, B-C10
TEST(RaftReplication, ARepeatedAppendIsWrittenOnce) {
    auto node = follower();
    const auto request = append(1, log_id(1, 1), {commands(log_id(1, 2))}, 2);
    node.receive(n2, request);
    node.receive(n2, request);
    EXPECT_EQ(node.writes.size(), 1U);
    node.complete_writes();
    node.receive(n2, request);
    EXPECT_TRUE(node.writes.empty());
    EXPECT_EQ(node.committed.size(), 1U);
}

// B-C10: the later one arrives first.
TEST(RaftReplication, ReorderedAppendsEndAsIfInOrder) {
    auto node = follower();
    node.receive(n2, append(1, log_id(1, 2), {commands(log_id(1, 3))}, 3));
    EXPECT_TRUE(node.newest<AppendReply>(n2).rejected);
    node.receive(n2, append(1, log_id(1, 1), {commands(log_id(1, 2))}, 1));
    node.receive(n2, append(1, log_id(1, 2), {commands(log_id(1, 3))}, 3));
    node.complete_writes();
    EXPECT_EQ(node.newest<AppendReply>(n2).match, LogIndex{3});
    EXPECT_EQ(node->commit_index(), LogIndex{3});
}

// B-D10, B-D11: the first write's completion says nothing about the entries that replaced its own.
TEST(RaftReplication, ACompletionDoesNotCountWhatReplacedItsEntries) {
    auto node = follower();
    node.receive(n2,
                 append(1, log_id(1, 1),
                        {commands(log_id(1, 2)), commands(log_id(1, 3)), commands(log_id(1, 4))}));
    node.receive(n3, append(2, log_id(1, 2), {commands(log_id(2, 3))}));
    ASSERT_EQ(node.writes.size(), 2U);
    node.complete_write();
    EXPECT_EQ(node->durable_index(), LogIndex{2});
    EXPECT_TRUE(node.sent.empty());
    node.complete_write();
    EXPECT_EQ(node->durable_index(), LogIndex{3});
    EXPECT_EQ(node.newest<AppendReply>(n3).match, LogIndex{3});
    EXPECT_EQ(node.sent_count<AppendReply>(n2), 0U);
}

// Entries of an idle cluster are small: without the limit a message would have more than a receiver
// accepts.
TEST(RaftReplication, ALeaderSendsSoManyEntriesAtOnceAndNoMore) {  // P7
    Replicating led{1, 2, 3};
    const auto first = led.leader.propose("");
    for (std::size_t i = 0; i < 2 * append_entries_max; ++i)
        led.leader.propose("");
    led.leader.sent.clear();
    led.leader.receive(n2, accepts(led.leader->term().raw(), first->raw() + 3));
    const auto sent = led.leader.take<AppendRequest>(n2);
    ASSERT_FALSE(sent.empty());
    EXPECT_EQ(sent.front().entries.size(), append_entries_max);
}

// B-D10: it was durable, and is not from the moment the truncation is submitted.
TEST(RaftReplication, ATruncatedTailIsClaimedNoLonger) {
    auto node = follower_with({Term{1}, {}}, {1, 1, 1});
    node.receive(n3, append(2, log_id(1, 2), {commands(log_id(2, 3))}));
    EXPECT_EQ(node->durable_index(), LogIndex{2});
    node.receive(n3, append(2, log_id(2, 3)));
    EXPECT_EQ(node.sent_count<AppendReply>(n3), 0U);  // the term is not durable either
    node.complete_writes();
    EXPECT_EQ(node.newest<AppendReply>(n3).match, LogIndex{3});
}

TEST(RaftReplication, WhileAWriteIsUnderWayAFollowerClaimsWhatIsDurable) {
    auto node = follower();
    node.receive(n2, append(1, log_id(1, 1), {commands(log_id(1, 2))}));
    node.receive(n2, append(1, log_id(1, 2), {commands(log_id(1, 3))}));
    node.complete_write();
    EXPECT_EQ(node.newest<AppendReply>(n2).match, LogIndex{2});
    node.receive(n2, append(1, log_id(1, 3)));
    EXPECT_EQ(node.newest<AppendReply>(n2).match, LogIndex{2});
}

// B-C12, B-C14: each committed entry is handed out once and in order.
TEST(RaftReplication, CommittedEntriesLeaveOnceAndInOrder) {
    auto node = follower();
    std::vector<Entry> entries;
    for (std::uint64_t index = 2; index <= 6; ++index)
        entries.push_back(commands(log_id(1, index)));
    node.receive(n2, append(1, log_id(1, 1), entries, 3));
    EXPECT_THAT(ids_of(node.committed), ElementsAre(log_id(1, 2), log_id(1, 3)));
    node.receive(n2, append(1, log_id(1, 6), {}, 2));
    node.receive(n2, append(1, log_id(1, 6), {}, 5));
    node.receive(n2, append(1, log_id(1, 6), {}, 9));
    EXPECT_THAT(ids_of(node.committed),
                ElementsAre(log_id(1, 2), log_id(1, 3), log_id(1, 4), log_id(1, 5), log_id(1, 6)));
}

// B-C16: the term is examined first, in every message.
TEST(RaftReplication, MessagesOfAnEarlierTermChangeNothing) {
    auto node = follower_with({Term{5}, {}}, {2, 2});
    const auto deadline = node->deadline();
    node.now = node.now + 1ms;
    node.receive(n2, append(4, log_id(1, 1), {commands(log_id(4, 2))}, 2));
    node.receive(n2, VoteReply{Term{4}, 1, true});
    node.receive(n2, accepts(4, 3));
    node.receive(n2, rejects(4, 3, log_id(1, 1)));
    node.receive(n2, TimeoutNow{Term{4}, log_id(2, 3)});
    EXPECT_EQ(node->leader(), std::nullopt);
    EXPECT_EQ(node->role(), Role::follower);
    EXPECT_EQ(node->deadline(), deadline);
    EXPECT_EQ(node->commit_index(), LogIndex{1});
    EXPECT_TRUE(node.writes.empty());
}

// B-C16: its entries may have been replaced by now, on both sides.
TEST(RaftReplication, AnAnswerToAnEarlierTermOfThisLeaderCountsForNothing) {
    RaftCluster cluster{1, 2, 3};
    const auto earlier = cluster.elect(n1)->term();
    auto& leader = cluster.elect_anybody();
    ASSERT_EQ(leader.self(), n1);
    ASSERT_GT(leader->term(), earlier);
    cluster.cut(n2);
    cluster.cut(n3);
    const auto commit = leader->commit_index();
    const auto last = leader.propose();
    ASSERT_TRUE(last.has_value());
    leader.complete_writes();
    leader.receive(n2, accepts(earlier.raw(), last->raw()));
    EXPECT_LT(leader->progress_of(n2)->match, *last);
    EXPECT_EQ(leader->commit_index(), commit);
}

// B-V7: its sender learns what it missed.
TEST(RaftReplication, ADeposedLeaderIsToldTheTerm) {
    auto node = follower_with({Term{5}, {}}, {});
    node.receive(n2, append(4, log_id(1, 1)));
    const auto reply = node.newest<AppendReply>(n2);
    EXPECT_EQ(reply.term, Term{5});
    EXPECT_TRUE(reply.rejected);

    Replicating led{1, 2, 3};
    led.leader.receive(n2, reply);
    EXPECT_EQ(led.leader->role(), Role::pre_candidate);
    EXPECT_EQ(led.leader->term(), Term{5});
}

TEST(RaftReplication, AnAcceptedAppendResetsTheElectionTimer) {
    auto node = follower();
    for (int i = 0; i < 10; ++i) {
        node.receive(n2, append(1, log_id(1, 1)));
        EXPECT_GE(node->deadline(), node.now + calm_patience);
        node.now = node.now + 400ms;
    }
}

// B-C8, B-C11: a purged entry was committed, so it matches.
TEST(RaftReplication, AnAppendThatBeginsInThePurgedPartMatches) {
    auto node = follower_with({Term{1}, {}}, {1, 1, 1, 1});
    node.receive(n2, append(1, log_id(1, 5), {}, 5));
    node.take<AppendReply>(n2);
    node.purge_to(4);
    node.receive(n2, append(1, log_id(1, 2),
                            {commands(log_id(1, 3)), commands(log_id(1, 4)), commands(log_id(1, 5)),
                             commands(log_id(1, 6))}));
    EXPECT_FALSE(node.writes.front().truncate_from);
    EXPECT_THAT(ids_of(node.writes.front().append), ElementsAre(log_id(1, 6)));
    node.complete_writes();
    EXPECT_EQ(node.newest<AppendReply>(n2).match, LogIndex{6});
    node.receive(n2, append(1, log_id(1, 4)));
    EXPECT_FALSE(node.newest<AppendReply>(n2).rejected);
}

// B-C8: an entry that does not exist has no term, and matches none.
TEST(RaftReplication, AnAppendBeyondTheLogDoesNotMatch) {
    auto node = follower();
    node.receive(n2, append(1, {Term{}, LogIndex{7}}));
    EXPECT_TRUE(node.newest<AppendReply>(n2).rejected);
}

// B-M7
TEST(RaftReplication, AConfigurationHoldsFromItsAppendToItsTruncation) {
    auto node = follower();
    node.receive(n2, append(1, log_id(1, 1), {configures(log_id(1, 2), voters({1, 2, 4}))}));
    EXPECT_EQ(node->configuration(), voters({1, 2, 4}));
    node.receive(n3, append(2, log_id(1, 1), {commands(log_id(2, 2))}));
    EXPECT_EQ(node->configuration(), voters({1, 2, 3}));
}

TEST(RaftReplication, AConfigurationIsFoundAgainAfterARestart) {
    auto node = follower();
    node.receive(n2, append(1, log_id(1, 1), {configures(log_id(1, 2), voters({1, 2, 4}))}));
    node.complete_writes();
    node.crash_and_restart();
    EXPECT_EQ(node->configuration(), voters({1, 2, 4}));
}

// --- refused messages

void expect_refused(AppendRequest request) {
    auto node = follower();
    node.receive(n2, std::move(request));
    EXPECT_TRUE(node.noted(Note::Kind::refused_message));
    EXPECT_EQ(node->log().last(), log_id(1, 1));
    EXPECT_EQ(node->leader(), std::nullopt);
    EXPECT_EQ(node.sent_count<AppendReply>(n2), 0U);
}

TEST(RaftReplication, RefusesADamagedEntry) {  // P5
    auto payload = commands(log_id(1, 2), "abc");
    payload.payload = Bytes{"abd"};
    expect_refused(append(1, log_id(1, 1), {payload}));
    auto kind = commands(log_id(1, 2));
    kind.kind = EntryKind::noop;
    expect_refused(append(1, log_id(1, 1), {kind}));
    auto sum = commands(log_id(1, 2));
    sum.checksum ^= 1U;
    expect_refused(append(1, log_id(1, 1), {sum}));
    expect_refused(append(1, log_id(1, 1), {commands(log_id(1, 2)), sum}));
}

// B-D8
TEST(RaftReplication, RefusesAGap) {
    expect_refused(append(1, log_id(1, 1), {commands(log_id(1, 3))}));
    expect_refused(append(1, log_id(1, 1), {commands(log_id(1, 2)), commands(log_id(1, 4))}));
    expect_refused(append(1, log_id(1, 1), {commands(log_id(1, 2)), commands(log_id(1, 2))}));
    expect_refused(append(1, log_id(1, 1), {commands(log_id(1, 1))}));
}

TEST(RaftReplication, RefusesTermsThatCannotBe) {
    expect_refused(append(1, log_id(1, 1), {commands(log_id(2, 2))}));
    expect_refused(append(1, log_id(2, 1)));
    expect_refused(append(3, log_id(1, 1), {commands(log_id(3, 2)), commands(log_id(2, 3))}));
    expect_refused(append(3, log_id(2, 1), {commands(log_id(1, 2))}));
}

TEST(RaftReplication, RefusesAConfigurationThatIsNone) {
    const auto entry = make_entry(log_id(1, 2), EntryKind::configuration, Bytes{"nonsense"});
    expect_refused(append(1, log_id(1, 1), {entry}));
}

TEST(RaftReplication, ALeaderRefusesAnswersToWhatItNeverSent) {
    Replicating led{1, 2, 3};
    const auto commit = led.leader->commit_index();
    led.leader.receive(n2, accepts(2, 99));
    led.leader.receive(n3, accepts(2, 99));
    EXPECT_EQ(led.leader->commit_index(), commit);
    led.leader.receive(n2, accepts(2, 2, 99));
    EXPECT_TRUE(led.leader.noted(Note::Kind::refused_message));
}

TEST(RaftReplication, AnswersOfStrangersDoNotCount) {
    Replicating led{1, 2, 3};
    led.leader.propose();
    led.leader.complete_writes();
    led.leader.receive(n5, accepts(2, 3));
    EXPECT_EQ(led.leader->commit_index(), LogIndex{2});
}

// --- the leader

TEST(RaftReplication, CommitsWhatAMajorityHasOnDisk) {
    Replicating led{1, 2, 3};
    led.leader.propose();
    led.leader.complete_writes();
    EXPECT_EQ(led.leader->commit_index(), LogIndex{2});
    led.leader.receive(n2, accepts(2, 3));
    EXPECT_EQ(led.leader->commit_index(), LogIndex{3});
    EXPECT_EQ(led.leader.committed.back().id, log_id(2, 3));
}

TEST(RaftReplication, NewsOfACommitNeedNoAnswerAndHeartbeatsDo) {
    Replicating led{1, 2, 3};
    led.leader.propose();
    led.leader.complete_writes();
    EXPECT_FALSE(led.leader.newest<AppendRequest>(n2).quiet);  // it has an entry
    led.leader.receive(n2, accepts(2, 3));
    const auto news = led.leader.newest<AppendRequest>(n2);
    EXPECT_EQ(news.commit, LogIndex{3});
    EXPECT_TRUE(news.quiet);
    led.leader.now = led.leader.now + heartbeat;
    led.leader.timer();
    EXPECT_FALSE(led.leader.newest<AppendRequest>(n2).quiet);
}

// A read waits for the answer.
TEST(RaftReplication, AReadNeedsAnAnswer) {
    Replicating led{1, 2, 3};
    led.leader.read(7);
    const auto asked = led.leader.newest<AppendRequest>(n2);
    EXPECT_EQ(asked.read_round, 1U);
    EXPECT_FALSE(asked.quiet);
}

// B-D1: the leader's own disk counts like any other.
TEST(RaftReplication, ALeaderDoesNotCountItselfBeforeItsWrite) {  // P4
    Replicating led{1, 2, 3};
    led.leader.propose();
    led.leader.receive(n2, accepts(2, 3));
    EXPECT_EQ(led.leader->commit_index(), LogIndex{2});
    led.leader.complete_writes();
    EXPECT_EQ(led.leader->commit_index(), LogIndex{3});
}

// Thesis 10.2.1
TEST(RaftReplication, TwoFollowersCommitWithoutASlowLeaderDisk) {
    Replicating led{1, 2, 3};
    led.cluster.stall_disk(n1);
    led.leader.propose();
    EXPECT_EQ(led.leader.sent_count<AppendRequest>(n2), 1U);  // its own write sends no further one
    led.cluster.settle();
    EXPECT_EQ(led.leader->durable_index(), LogIndex{2});
    EXPECT_EQ(led.leader->commit_index(), LogIndex{3});
    EXPECT_EQ(led.cluster[n3]->commit_index(), LogIndex{3});
}

// B-C2
TEST(RaftReplication, HalfIsNoMajority) {
    Replicating led{1, 2, 3, 4};
    led.leader.propose();
    led.leader.complete_writes();
    led.leader.receive(n2, accepts(2, 3));
    EXPECT_EQ(led.leader->commit_index(), LogIndex{2});
    led.leader.receive(n3, accepts(2, 3));
    EXPECT_EQ(led.leader->commit_index(), LogIndex{3});
}

// B-F1, B-F2: the count follows the entries, whatever happens to them.
TEST(RaftReplication, KnowsHowMuchIsNotCommitted) {
    Replicating led{1, 2, 3};
    EXPECT_EQ(led.leader->uncommitted_bytes(), 0U);
    led.cluster.cut(n2);
    led.cluster.cut(n3);
    led.leader.propose("one");
    const auto one = led.leader->uncommitted_bytes();
    EXPECT_EQ(one, weight(led.leader->log().at(LogIndex{3})));
    led.leader.propose("another");
    EXPECT_GT(led.leader->uncommitted_bytes(), 2 * one);
    led.leader.complete_writes();
    led.leader.receive(n2, accepts(2, 3));
    EXPECT_EQ(led.leader->uncommitted_bytes(), weight(led.leader->log().at(LogIndex{4})));
    led.leader.receive(n2, append(3, log_id(2, 3), {commands(log_id(3, 4))}));
    EXPECT_EQ(led.leader->uncommitted_bytes(), weight(led.leader->log().at(LogIndex{4})));
    led.leader.receive(n2, append(3, log_id(3, 4), {}, 4));
    EXPECT_EQ(led.leader->uncommitted_bytes(), 0U);
}

// B-C5
TEST(RaftReplication, RepeatedAnswersCountOnce) {
    Replicating led{1, 2, 3, 4, 5};
    led.leader.propose();
    led.leader.complete_writes();
    for (int i = 0; i < 5; ++i)
        led.leader.receive(n2, accepts(2, 3));
    EXPECT_EQ(led.leader->commit_index(), LogIndex{2});
    led.leader.receive(n3, accepts(2, 3));
    EXPECT_EQ(led.leader->commit_index(), LogIndex{3});
}

// B-C3: while joint, a majority of each list is needed.
TEST(RaftReplication, WhileJointCommitsWithBothMajorities) {
    Replicating led{1, 2, 3, 4, 5};
    led.leader.configure({{7, 9}, members({1, 2, 3}), members({1, 4, 5}), {}});
    led.leader.complete_writes();
    led.leader.receive(n2, accepts(2, 3));
    led.leader.receive(n3, accepts(2, 3));
    EXPECT_EQ(led.leader->commit_index(), LogIndex{2});
    led.leader.receive(n4, accepts(2, 3));
    EXPECT_EQ(led.leader->commit_index(), LogIndex{3});
}

TEST(RaftReplication, LearnersReceiveButDoNotCount) {
    auto configuration = voters({1, 2, 3});
    configuration.learners = members({4, 5});
    RaftCluster cluster{configuration, options_of(n1)};
    auto& leader = cluster.elect(n1);
    leader.propose();
    leader.complete_writes();
    EXPECT_EQ(leader.sent_count<AppendRequest>(n4), 1U);
    leader.receive(n4, accepts(2, 3));
    leader.receive(n5, accepts(2, 3));
    EXPECT_EQ(leader->commit_index(), LogIndex{2});
    leader.receive(n2, accepts(2, 3));
    EXPECT_EQ(leader->commit_index(), LogIndex{3});
}

// B-C10
TEST(RaftReplication, OldAnswersMoveNothingBack) {
    Replicating led{1, 2, 3};
    for (int i = 0; i < 3; ++i)
        led.leader.propose();
    led.cluster.settle();
    led.leader.receive(n2, accepts(2, 2));
    led.leader.receive(n2, accepts(1, 1));
    led.leader.receive(n2, rejects(2, 4, log_id(1, 1)));
    led.leader.receive(n2, rejects(2, 0, {}));
    led.leader.receive(n2, rejects(2, 99, log_id(1, 1)));
    const auto* progress = led.leader->progress_of(n2);
    EXPECT_EQ(progress->match, LogIndex{5});
    EXPECT_EQ(progress->next, LogIndex{6});
    EXPECT_EQ(progress->state, Progress::State::replicate);
    EXPECT_TRUE(led.leader.sent.empty());
}

// B-C7: a rejection acknowledges nothing.
TEST(RaftReplication, ARejectionCommitsNothing) {
    Replicating led{1, 2, 3};
    led.leader.propose();
    led.leader.complete_writes();
    auto reply = rejects(2, 2, log_id(1, 1));
    reply.match = LogIndex{3};
    led.leader.receive(n2, reply);
    EXPECT_EQ(led.leader->commit_index(), LogIndex{2});
}

// B-C6: it acknowledges entries of the term that it answers, with the same indexes.
TEST(RaftReplication, AnAnswerToAnEarlierTermDoesNotCount) {
    Replicating led{1, 2, 3};
    led.leader.receive(n2, append(3, log_id(2, 2)));
    led.cluster.settle();
    led.cluster.elect(n1);
    ASSERT_EQ(led.leader->term(), Term{4});
    led.leader.propose();
    led.leader.complete_writes();
    const auto last = led.leader->log().last().index;
    const auto commit = led.leader->commit_index();
    ASSERT_LT(commit, last);
    led.leader.receive(n2, accepts(2, last.raw()));
    led.leader.receive(n2, accepts(3, last.raw()));
    EXPECT_EQ(led.leader->commit_index(), commit);
}

TEST(RaftReplication, AnIdleClusterLearnsOfACommitAtOnce) {
    Replicating led{1, 2, 3};
    led.leader.propose();
    led.leader.complete_writes();
    led.leader.sent.clear();
    led.leader.receive(n2, accepts(2, 3));
    EXPECT_EQ(led.leader.newest<AppendRequest>(n2).commit, LogIndex{3});
    // It was sent the entry, and applies it whether or not it is durable there.
    EXPECT_EQ(led.leader.newest<AppendRequest>(n3).commit, LogIndex{3});
    led.leader.receive(n3, accepts(2, 3));
    EXPECT_TRUE(led.leader.sent.empty());
}

// One that is far away would learn of it a round trip later.
TEST(RaftReplication, AFollowerCommitsWhatIsNotDurableThere) {
    Replicating led{1, 2, 3};
    led.leader.propose();
    led.leader.complete_writes();
    auto entries = led.leader.newest<AppendRequest>(n3);
    led.leader.receive(n2, accepts(2, 3));
    auto commit = led.leader.newest<AppendRequest>(n3);
    EXPECT_TRUE(commit.entries.empty());
    auto& far = led.cluster[n3];
    far.receive(n1, std::move(entries));
    far.receive(n1, std::move(commit));
    EXPECT_EQ(far->commit_index(), LogIndex{3});
    EXPECT_LT(far->durable_index(), LogIndex{3});
}

TEST(RaftReplication, ACommitTravelsWithEntriesWhenThereAreSome) {
    auto options = options_of(n1);
    options.appends_in_flight_max = 1;
    Replicating led{{1, 2, 3}, options};
    led.leader.propose();
    led.leader.propose();
    led.leader.complete_writes();
    led.leader.sent.clear();
    led.leader.receive(n2, accepts(2, 3));
    ASSERT_EQ(led.leader.sent_count<AppendRequest>(n2), 1U);
    const auto request = led.leader.newest<AppendRequest>(n2);
    EXPECT_EQ(request.commit, LogIndex{3});
    EXPECT_THAT(ids_of(request.entries), ElementsAre(log_id(2, 4)));
}

TEST(RaftReplication, HeartbeatsGoToEverybodyInTime) {
    Replicating led{1, 2, 3};
    led.cluster.pass(heartbeat - 1ns);
    const auto due = led.leader->deadline();
    EXPECT_LE(due, led.leader.now + heartbeat);
    led.leader.now = due;
    led.leader.timer();
    for (const auto peer : {n2, n3}) {
        const auto request = led.leader.newest<AppendRequest>(peer);
        EXPECT_TRUE(request.entries.empty());
        EXPECT_EQ(request.previous, log_id(2, 2));
        EXPECT_EQ(request.commit, LogIndex{2});
    }
    EXPECT_EQ(led.leader->deadline(), due + heartbeat);
}

// Thesis 10.2.1: entries are sent without waiting for acknowledgements, up to the window.
TEST(RaftReplication, SendsAheadUpToItsWindow) {
    auto options = options_of(n1);
    options.appends_in_flight_max = 3;
    Replicating led{{1, 2, 3}, options};
    for (int i = 0; i < 5; ++i)
        led.leader.propose();
    EXPECT_EQ(led.leader.sent_count<AppendRequest>(n2), 3U);
    std::uint64_t index = 2;
    for (const auto& request : led.leader.take<AppendRequest>(n2)) {
        EXPECT_EQ(request.previous, log_id(2, index));
        EXPECT_THAT(ids_of(request.entries), ElementsAre(log_id(2, ++index)));
    }
    // The entries that waited are sent together.
    led.leader.receive(n2, accepts(2, 3));
    EXPECT_THAT(ids_of(led.leader.newest<AppendRequest>(n2).entries),
                ElementsAre(log_id(2, 6), log_id(2, 7)));
    EXPECT_EQ(led.leader->progress_of(n2)->in_flight.size(), 3U);
}

// B-F1: one answer acknowledges everything before it.
TEST(RaftReplication, OneAnswerFreesTheWholeWindow) {
    Replicating led{1, 2, 3};
    for (int i = 0; i < 9; ++i)
        led.leader.propose();
    EXPECT_EQ(led.leader->progress_of(n2)->in_flight.size(), 4U);
    led.leader.receive(n2, accepts(2, 6));
    led.leader.receive(n2, accepts(2, 11));
    EXPECT_TRUE(led.leader->progress_of(n2)->in_flight.empty());
}

TEST(RaftReplication, SplitsWhatIsTooMuchForOneMessage) {
    auto options = options_of(n1);
    options.append_bytes_max = 2 * weight(commands(log_id(2, 3)));
    options.appends_in_flight_max = 1;
    Replicating led{{1, 2, 3}, options};
    for (int i = 0; i < 6; ++i)
        led.leader.propose();
    led.leader.sent.clear();
    led.leader.receive(n2, accepts(2, 3));
    EXPECT_EQ(led.leader.newest<AppendRequest>(n2).entries.size(), 2U);
    led.leader.receive(n2, accepts(2, 5));
    EXPECT_EQ(led.leader.newest<AppendRequest>(n2).entries.size(), 2U);
}

// While it is unknown where the logs agree, one message is enough to find out.
TEST(RaftReplication, ProbesWithOneMessageAtATime) {
    RaftCluster cluster{1, 2, 3};
    cluster.cut(n3);
    auto& leader = cluster.elect(n1);
    EXPECT_EQ(leader->progress_of(n3)->state, Progress::State::probe);
    leader.sent.clear();
    for (int i = 0; i < 5; ++i)
        leader.propose();
    EXPECT_EQ(leader.sent_count<AppendRequest>(n3), 0U);
    EXPECT_EQ(leader.sent_count<AppendRequest>(n2), 4U);
}

TEST(RaftReplication, ALostProbeIsMadeUpForByAHeartbeat) {  // B-F3
    RaftCluster cluster{1, 2, 3};
    cluster.cut(n3);
    auto& leader = cluster.elect(n1);
    leader.propose();
    cluster.settle();
    cluster.heal(n3);
    EXPECT_EQ(cluster[n3]->log().last(), log_id(1, 1));
    cluster.beat(n1);
    EXPECT_EQ(cluster[n3]->log().last(), log_id(2, 3));
    EXPECT_EQ(cluster[n3]->commit_index(), LogIndex{3});
}

// B-F3: nothing is resent by a timer of its own; the heartbeat detects the gap.
TEST(RaftReplication, LostEntriesAreMadeUpForByAHeartbeat) {
    Replicating led{1, 2, 3};
    led.cluster.cut(n3);
    for (int i = 0; i < 10; ++i)
        led.leader.propose();
    led.cluster.settle();
    EXPECT_EQ(led.leader->progress_of(n3)->in_flight.size(), 4U);
    led.cluster.heal(n3);
    led.cluster.beat(n1);
    EXPECT_EQ(led.cluster[n3]->log().last(), log_id(2, 12));
    EXPECT_EQ(led.cluster[n3]->commit_index(), LogIndex{12});
    EXPECT_TRUE(led.leader->progress_of(n3)->in_flight.empty());
}

TEST(RaftReplication, OneThatRestartedCatchesUp) {
    Replicating led{1, 2, 3};
    led.leader.propose();
    led.cluster.settle();
    led.cluster[n3].crash_and_restart();
    led.leader.propose();
    led.cluster.settle();
    EXPECT_EQ(led.cluster[n3]->commit_index(), LogIndex{4});
    EXPECT_EQ(log_of(led.cluster[n3].raft()), log_of(led.leader.raft()));
}

TEST(RaftReplication, KnowsWhatEverybodyHas) {
    Replicating led{1, 2, 3};
    led.cluster.cut(n3);
    led.leader.propose();
    led.cluster.settle();
    EXPECT_EQ(led.leader->replicated_index(), LogIndex{2});
    led.cluster.heal(n3);
    led.cluster.beat(n1);
    led.cluster.beat(n1);
    EXPECT_EQ(led.leader->replicated_index(), LogIndex{3});
    EXPECT_EQ(led.cluster[n2]->replicated_index(), LogIndex{3});
}

TEST(RaftReplication, ANewMemberGetsTheWholeLog) {
    auto grown = voters({1, 2, 3});
    grown.learners = members({4});
    const RaftState empty;
    RaftCluster cluster{grown, options_of(n1), {{n4, empty}}};
    for (const auto id : {n1, n2, n3})
        ASSERT_EQ(cluster[id]->configuration(), grown);
    cluster.elect(n1).propose();
    cluster.settle();
    EXPECT_EQ(log_of(cluster[n4].raft()), log_of(cluster[n1].raft()));
    EXPECT_EQ(cluster[n4]->configuration(), grown);
    EXPECT_EQ(cluster[n4]->commit_index(), LogIndex{3});
}

TEST(RaftReplication, ANewMemberIsSentEntriesAtOnce) {
    Replicating led{1, 2, 3};
    auto grown = voters({1, 2, 3});
    grown.learners = members({4});
    EXPECT_EQ(led.leader->progress_of(n4), nullptr);
    led.leader.configure(grown);
    EXPECT_NE(led.leader->progress_of(n4), nullptr);
    EXPECT_EQ(led.leader.sent_count<AppendRequest>(n4), 1U);
    led.leader.configure(voters({1, 2, 3}));
    EXPECT_TRUE(led.leader->progress_of(n4)->leaves_at);  // it still receives its removal
}

// --- logs that diverged

// Thesis 3.6.2, figure 8 of the paper, with its letters. Indexes are one higher: 1 is the first
// entry.
TEST(RaftReplication, EntriesOfAnEarlierTermAreNotCommittedByCounting) {  // P2, B-C7
    const auto five = voters({1, 2, 3, 4, 5});
    // (a) S1 led term 2 and sent its entry to S2. (b) S5 led term 3 and wrote its own.
    RaftCluster cluster{five,
                        options_of(n1),
                        {{n1, disk_with(five, {Term{3}, {}}, {2})},
                         {n2, disk_with(five, {Term{3}, {}}, {2})},
                         {n3, disk_with(five, {Term{3}, {}}, {})},
                         {n4, disk_with(five, {Term{3}, {}}, {})},
                         {n5, disk_with(five, {Term{3}, n5}, {3})}}};
    // (c) S1 leads term 4 and sends the entry of term 2 to S3: it is on a majority now.
    cluster.cut(n4);
    cluster.cut(n5);
    auto& s1 = cluster[n1];
    s1.timer_when_due();
    while (!s1->is_leader()) {
        cluster.deliver();
        for (auto& [id, node] : cluster)
            node.complete_writes();
    }
    ASSERT_EQ(s1->term(), Term{4});
    s1.receive(n2, accepts(4, 2));
    s1.receive(n3, accepts(4, 2));
    EXPECT_EQ(s1->commit_index(), LogIndex{1});
    // (e) Its own entry on a majority commits both.
    s1.complete_writes();
    s1.receive(n2, accepts(4, 3));
    EXPECT_EQ(s1->commit_index(), LogIndex{1});
    s1.receive(n3, accepts(4, 3));
    EXPECT_EQ(s1->commit_index(), LogIndex{3});
}

// The other outcome of figure 8, (d): what was not committed is replaced.
TEST(RaftReplication, AnUncommittedEntryOnAMajorityMayBeReplaced) {
    const auto five = voters({1, 2, 3, 4, 5});
    RaftCluster cluster{five,
                        options_of(n1),
                        {{n1, disk_with(five, {Term{4}, n1}, {2, 4})},
                         {n2, disk_with(five, {Term{4}, {}}, {2})},
                         {n3, disk_with(five, {Term{4}, {}}, {2})},
                         {n4, disk_with(five, {Term{3}, {}}, {})},
                         {n5, disk_with(five, {Term{3}, n5}, {3})}}};
    cluster.cut(n1);
    auto& s5 = cluster[n5];
    // Its term is behind: the others inform it, and it asks again.
    s5.timer_when_due();
    cluster.settle();
    EXPECT_EQ(s5->term(), Term{4});
    cluster.elect(n5);
    cluster.heal(n1);
    cluster.beat(n5);
    for (const auto& [id, node] : cluster) {
        EXPECT_THAT(log_of(node.raft()), ElementsAre(log_id(1, 1), log_id(3, 2), log_id(5, 3)));
        EXPECT_EQ(node->commit_index(), LogIndex{3});
    }
}

// Figure 7 of the paper: every way in which a follower can have fewer or more entries.
TEST(RaftReplication, BringsEveryKindOfLogToTheLeaders) {
    const std::vector<std::uint64_t> leads{1, 1, 4, 4, 5, 5, 6, 6, 6};
    const std::vector<std::vector<std::uint64_t>> followers{{1, 1, 4, 4, 5, 5, 6, 6},
                                                            {1, 1, 4},
                                                            {1, 1, 4, 4, 5, 5, 6, 6, 6, 6},
                                                            {1, 1, 4, 4, 5, 5, 6, 6, 6, 7, 7},
                                                            {1, 1, 4, 4, 4, 4},
                                                            {1, 1, 2, 2, 2, 3, 3, 3, 3, 3},
                                                            {}};
    for (const auto& terms : followers) {
        const auto three = voters({1, 2, 3});
        RaftCluster cluster{three,
                            options_of(n1),
                            {{n1, disk_with(three, {Term{7}, {}}, leads)},
                             {n2, disk_with(three, {Term{7}, {}}, leads)},
                             {n3, disk_with(three, {Term{7}, {}}, terms)}}};
        cluster.elect(n1);
        EXPECT_EQ(log_of(cluster[n3].raft()), log_of(cluster[n1].raft()));
        EXPECT_EQ(cluster[n3].disk().entries, cluster[n1].disk().entries);
        EXPECT_EQ(cluster[n3]->commit_index(), LogIndex{11});
    }
}

RaftState long_log(Configuration configuration, std::uint64_t first_term, std::uint64_t terms,
                   std::uint64_t each) {
    auto state = disk_with(configuration, {Term{100}, {}}, {});
    for (std::uint64_t n = 0; n < terms * each; ++n) {
        const Term term{first_term + 2 * (n / each)};
        state.entries.push_back(commands({term, state.entries.back().id.index.next()}));
    }
    return state;
}

// B-C15: terms 2, 4, 6, ... here and 3, 5, 7, ... there, 500 entries each, and none in common.
TEST(RaftReplication, ALongDivergentTailIsSkippedTermByTerm) {
    const auto three = voters({1, 2, 3});
    RaftCluster cluster{three,
                        options_of(n1),
                        {{n1, long_log(three, 3, 5, 500)},
                         {n2, long_log(three, 3, 5, 500)},
                         {n3, long_log(three, 2, 5, 500)}}};
    cluster.cut(n3);
    auto& leader = cluster.elect(n1);
    cluster.heal(n3);
    leader.timer_in(heartbeat);
    int round_trips = 0;
    while (leader->progress_of(n3)->match < leader->log().last().index && round_trips < 1000) {
        cluster.deliver();
        cluster[n3].complete_writes();
        cluster.deliver();
        ++round_trips;
    }
    EXPECT_LE(round_trips, 15);
    EXPECT_EQ(log_of(cluster[n3].raft()), log_of(leader.raft()));
}

// Three nodes and a bad network: each step is one random event.
class Disorder {
public:
    explicit Disorder(std::uint64_t seed) : prng_{seed} {}

    void step() {
        auto& node = cluster[NodeId{1 + prng_.below(3)}];
        switch (prng_.below(8)) {
            case 0: cluster.pass(Nanoseconds{prng_.between(0, 120'000'000)}); break;
            case 1:
                if (node->deadline() <= node.now) node.timer();
                break;
            case 2: node.propose(std::to_string(prng_.next())); break;
            case 3:
                if (prng_.one_in(50)) crash(node);
                break;
            case 4:
            case 5:
                if (!node.writes.empty()) node.complete_write();
                break;
            default: deliver_any();
        }
    }
    // Messages in transit are lost, and all nodes catch up.
    HandDriven& calm_down() {
        for (auto& [id, node] : cluster)
            node.sent.clear();
        auto& leader = cluster.elect_anybody();
        cluster.beat(leader.self());
        cluster.beat(leader.self());
        return leader;
    }

    RaftCluster cluster{1, 2, 3};

private:
    static void crash(HandDriven& node) {
        node.crash_and_restart();
        node.committed.clear();
    }
    // Out of order; sometimes not at all, sometimes repeatedly.
    void deliver_any() {
        for (auto& [id, node] : cluster) {
            for (auto& envelope : std::exchange(node.sent, {}))
                mail_.emplace_back(id, std::move(envelope));
        }
        if (mail_.empty()) return;
        const auto at = prng_.below(mail_.size());
        const auto [from, envelope] = mail_[at];
        if (!prng_.one_in(10)) mail_.erase(mail_.begin() + static_cast<std::ptrdiff_t>(at));
        if (!prng_.one_in(20)) cluster[envelope.to].receive(from, envelope.message);
    }

    Prng prng_;
    std::vector<std::pair<NodeId, RaftEnvelope>> mail_;
};

// B-C10, B-D6 and the others at once: whatever is lost, repeated, late or slow, all nodes commit
// the same entries, and agree at the end.
TEST(RaftReplication, AgreesUnderDisorder) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE(testing::Message() << "seed " << seed);
        Disorder disorder{seed};
        for (int i = 0; i < 3000; ++i)
            disorder.step();
        const auto& leader = disorder.calm_down();
        for (const auto& [id, node] : disorder.cluster) {
            ASSERT_EQ(log_of(node.raft()), log_of(leader.raft()));
            ASSERT_EQ(node->commit_index(), leader->log().last().index);
            for (const auto& entry : node.committed)
                ASSERT_EQ(entry, leader->log().at(entry.id.index));
        }
    }
}

}  // namespace
}  // namespace mortise::core::test
