#include "core/node/peer_memory.hpp"

#include <gtest/gtest.h>

namespace mortise::core {
namespace {

using Verdict = PeerMemory::Verdict;
using Belief = PeerMemory::Belief;

constexpr Nanoseconds patience{1'000};
constexpr Instant start{5'000};

constexpr Incarnation directory{20};

Hello hello(std::uint64_t epoch, std::uint64_t life) {
    return {NodeId{2}, {directory, BootEpoch{epoch}, life}, {7, 9}, {}};
}

Hello empty_hello(std::uint64_t epoch, std::uint64_t life) {
    auto empty = hello(epoch, life);
    empty.cluster = {};
    return empty;
}

LogId log_id(std::uint64_t term, std::uint64_t index) {
    return {Term{term}, LogIndex{index}};
}

AppendReply accepts(std::uint64_t term) {
    AppendReply reply;
    reply.term = Term{term};
    return reply;
}

AppendReply rejects(std::uint64_t previous, LogId hint) {
    auto reply = accepts(9);
    reply.rejected = true;
    reply.previous = LogIndex{previous};
    reply.hint = hint;
    return reply;
}

bool believes(PeerMemory& memory, const RaftMessage& message) {
    return memory.believe(directory, message, start) == Belief::sound;
}

TEST(PeerMemory, KnowsALifeAgainAndTakesALaterOneForIt) {
    PeerMemory memory{patience};
    EXPECT_EQ(memory.hear(hello(3, 30), {}), Verdict::new_life);
    EXPECT_EQ(memory.hear(hello(3, 30), {}), Verdict::same_life);
    EXPECT_EQ(memory.hear(hello(4, 40), {}), Verdict::new_life);
}

TEST(PeerMemory, AnEarlierStartIsOutlived) {
    PeerMemory memory{patience};
    memory.hear(hello(4, 40), {});
    EXPECT_EQ(memory.hear(hello(3, 31), {}), Verdict::outlived);
    EXPECT_EQ(memory.hear(hello(4, 40), {}), Verdict::same_life);
}

// Restored from before that start, and started once.
TEST(PeerMemory, TheSameStartTwiceIsACopy) {
    PeerMemory memory{patience};
    memory.hear(hello(4, 40), {});
    EXPECT_EQ(memory.hear(hello(4, 41), {}), Verdict::outlived);
}

// Also at a node that never heard of the later run: the state shows it.
TEST(PeerMemory, ALaterSessionOutlivesAStart) {
    PeerMemory memory{patience};
    EXPECT_EQ(memory.hear(hello(3, 30), Generation{directory, BootEpoch{4}}), Verdict::outlived);
    EXPECT_EQ(memory.hear(hello(4, 40), Generation{directory, BootEpoch{4}}), Verdict::new_life);
}

// The session was applied here after the first hello of that life.
TEST(PeerMemory, ALaterSessionOutlivesALifeThatWasHeard) {
    PeerMemory memory{patience};
    memory.hear(hello(3, 30), {});
    EXPECT_EQ(memory.hear(hello(3, 30), Generation{directory, BootEpoch{4}}), Verdict::outlived);
}

TEST(PeerMemory, AnotherDirectoryIsAnother) {
    PeerMemory memory{patience};
    memory.hear(hello(4, 40), {});
    auto wiped = hello(1, 1);
    wiped.generation.incarnation = Incarnation{21};
    EXPECT_EQ(memory.hear(wiped, {}), Verdict::new_life);
}

TEST(PeerMemory, ALifeMayRepeatWhatItSaid) {
    PeerMemory memory{patience};
    memory.hear(hello(1, 1), {});
    EXPECT_TRUE(believes(memory, accepts(5)));
    EXPECT_TRUE(believes(memory, accepts(4)));  // an old message
}

TEST(PeerMemory, ALaterLifeKnowsTheTermsOfThoseBefore) {
    for (const std::uint64_t term : {4U, 5U, 6U}) {
        PeerMemory memory{patience};
        memory.hear(hello(1, 1), {});
        believes(memory, accepts(5));
        memory.hear(hello(2, 2), {});
        EXPECT_EQ(believes(memory, accepts(term)), term >= 5) << term;
        EXPECT_EQ(memory.has_forgotten(directory), term < 5) << term;
    }
}

// A crash may take back a term that was not on disk, and these messages do not wait for that.
TEST(PeerMemory, WhatWasNotDurableIsNoPromise) {
    PeerMemory memory{patience};
    memory.hear(hello(1, 1), {});
    believes(memory, PreVoteRequest{Term{7}, 1, {}});
    believes(memory, ReadRequest{Term{7}, ReadId{1}});
    memory.hear(hello(2, 2), {});
    EXPECT_TRUE(believes(memory, accepts(5)));
}

TEST(PeerMemory, ACandidateHasWhatItAcknowledged) {
    const auto vote = [](LogId last) {
        PeerMemory memory{patience};
        memory.acknowledged(directory, log_id(3, 10));
        memory.hear(hello(2, 2), {});
        return believes(memory, VoteRequest{Term{9}, 1, last, false}) &&
               believes(memory, PreVoteRequest{Term{9}, 1, last});
    };
    EXPECT_FALSE(vote(log_id(3, 9)));
    EXPECT_FALSE(vote(log_id(2, 12)));
    EXPECT_TRUE(vote(log_id(3, 10)));
    EXPECT_TRUE(vote(log_id(4, 11)));
}

TEST(PeerMemory, AFollowerHasWhatItAcknowledged) {
    const auto rejection = [](std::uint64_t previous, LogId hint) {
        PeerMemory memory{patience};
        memory.acknowledged(directory, log_id(3, 10));
        memory.hear(hello(2, 2), {});
        return believes(memory, rejects(previous, hint));
    };
    EXPECT_FALSE(rejection(15, log_id(3, 9)));
    EXPECT_FALSE(rejection(11, {}));
    EXPECT_TRUE(rejection(15, log_id(3, 10)));
    EXPECT_TRUE(rejection(15, log_id(3, 14)));
    // It lacks entries that every member has.
    EXPECT_FALSE(rejection(10, log_id(3, 9)));
    EXPECT_FALSE(rejection(8, log_id(3, 7)));
    // This says nothing about its log: its term is newer, or a snapshot replaces its log.
    EXPECT_TRUE(rejection(0, {}));
}

// Restored from before it learned of its cluster, and started more often than before.
TEST(PeerMemory, APeerThatAcknowledgedAnythingIsNotEmpty) {
    PeerMemory memory{patience};
    memory.hear(empty_hello(1, 1), {});
    memory.acknowledged(directory, log_id(1, 1));
    // said before it had that entry
    EXPECT_EQ(memory.hear(empty_hello(1, 1), {}), Verdict::same_life);
    EXPECT_FALSE(memory.has_forgotten(directory));
    memory.hear(hello(2, 2), {});
    EXPECT_FALSE(memory.has_forgotten(directory));
    memory.hear(empty_hello(3, 3), {});
    EXPECT_TRUE(memory.has_forgotten(directory));
}

// It was said before it had that entry: messages overtake each other.
TEST(PeerMemory, WithinALifeNothingIsEvidence) {  // P8
    PeerMemory memory{patience};
    memory.hear(hello(1, 1), {});
    memory.acknowledged(directory, log_id(3, 10));
    EXPECT_TRUE(believes(memory, rejects(15, {})));
    EXPECT_TRUE(believes(memory, VoteRequest{Term{9}, 1, log_id(3, 9), false}));
}

TEST(PeerMemory, ADirectoryThatHasForgottenNeverCountsAgain) {
    PeerMemory memory{patience};
    memory.acknowledged(directory, log_id(3, 10));
    memory.hear(hello(1, 1), {});
    believes(memory, rejects(15, {}));
    EXPECT_EQ(memory.hear(hello(9, 9), {}), Verdict::new_life);
    EXPECT_FALSE(believes(memory, accepts(20)));
}

TEST(PeerMemory, IsAloneWithWhatNobodyElseHasSaidForAWhile) {
    PeerMemory memory{patience};
    memory.acknowledged(directory, log_id(3, 10));
    memory.hear(hello(1, 1), {});
    EXPECT_FALSE(memory.is_only_witness(directory, start + 9 * patience));
    believes(memory, rejects(15, {}));
    EXPECT_FALSE(memory.is_only_witness(directory, start + 2 * patience));
    EXPECT_TRUE(memory.is_only_witness(directory, start + 3 * patience));
    memory.hear(hello(2, 2), {});
    EXPECT_FALSE(memory.is_only_witness(directory, start + 9 * patience));
}

// The term and the entry that it lacked are no evidence any more.
TEST(PeerMemory, WhoCountsAgainBeginsAnew) {
    PeerMemory memory{patience};
    memory.hear(hello(1, 1), {});
    EXPECT_TRUE(believes(memory, accepts(50)));
    memory.acknowledged(directory, log_id(3, 10));
    memory.hear(hello(2, 2), {});
    EXPECT_FALSE(believes(memory, accepts(5)));
    EXPECT_TRUE(memory.counts(directory, Term{5}));
    EXPECT_TRUE(believes(memory, accepts(5)));
    EXPECT_EQ(memory.hear(hello(2, 2), {}), Verdict::same_life);
    memory.hear(hello(3, 3), {});
    EXPECT_TRUE(believes(memory, accepts(5)));
    EXPECT_FALSE(memory.has_forgotten(directory));
}

// What it has shown since is evidence like any other.
TEST(PeerMemory, WhoCountsAgainMayForgetAgain) {
    PeerMemory memory{patience};
    memory.hear(hello(1, 1), {});
    EXPECT_TRUE(believes(memory, accepts(50)));
    memory.hear(hello(2, 2), {});
    EXPECT_FALSE(believes(memory, accepts(5)));
    EXPECT_TRUE(memory.counts(directory, Term{5}));
    memory.hear(hello(3, 3), {});
    EXPECT_FALSE(believes(memory, accepts(4)));
}

// So a member that never led detects it as well.
TEST(PeerMemory, TakesALeadersWordForWhatAMemberHas) {
    PeerMemory memory{patience};
    ASSERT_EQ(memory.hear(hello(1, 1), {}), Verdict::new_life);
    memory.attested(directory, log_id(3, 9));
    const PreVoteRequest shorter{Term{9}, 1, log_id(3, 8)};
    EXPECT_TRUE(believes(memory, shorter));  // the leader may have received it first
    ASSERT_EQ(memory.hear(hello(2, 2), {}), Verdict::new_life);
    EXPECT_EQ(memory.believe(directory, shorter, start), Belief::doubtful);
    EXPECT_EQ(memory.believe(directory, shorter, start + patience), Belief::doubtful);
    EXPECT_EQ(memory.believe(directory, shorter, start + 2 * patience), Belief::forgotten);
    EXPECT_TRUE(memory.has_forgotten(directory));
}

// Found by the simulator: the present run had said it before it had the entry, and before its hello
// was received here. It was taken for a directory that was rolled back.
TEST(PeerMemory, AnOldStatementIsForgivenWhenTheNextOneHasTheEntry) {  // P8
    PeerMemory memory{patience};
    ASSERT_EQ(memory.hear(hello(1, 1), {}), Verdict::new_life);
    memory.attested(directory, log_id(3, 9));  // of run 2, which is not known here yet
    ASSERT_EQ(memory.hear(hello(2, 2), {}), Verdict::new_life);
    const PreVoteRequest old{Term{9}, 1, log_id(3, 8)};
    EXPECT_EQ(memory.believe(directory, old, start), Belief::doubtful);
    // A vote does not show what its voter has.
    const VoteReply vote{Term{9}, 1, true};
    EXPECT_EQ(memory.believe(directory, vote, start), Belief::doubtful);
    EXPECT_TRUE(believes(memory, PreVoteRequest{Term{9}, 2, log_id(3, 9)}));
    EXPECT_TRUE(believes(memory, vote));
    // Another old one is no evidence either, however much later it comes.
    EXPECT_EQ(memory.believe(directory, old, start + 2 * patience), Belief::doubtful);
    EXPECT_FALSE(memory.has_forgotten(directory));
}

// An acknowledgement is of the run that sent it, so there is no doubt.
TEST(PeerMemory, WhatThePeerItselfAcknowledgedNeedsNoSecondStatement) {
    PeerMemory memory{patience};
    ASSERT_EQ(memory.hear(hello(1, 1), {}), Verdict::new_life);
    memory.acknowledged(directory, log_id(3, 9));
    ASSERT_EQ(memory.hear(hello(2, 2), {}), Verdict::new_life);
    const PreVoteRequest shorter{Term{9}, 1, log_id(3, 8)};
    EXPECT_EQ(memory.believe(directory, shorter, start), Belief::forgotten);
}

// The statement may be about a time when the node was not a member, and it may become one again.
TEST(PeerMemory, ForgetsALeadersWordForWhoIsNoMember) {
    PeerMemory memory{patience};
    ASSERT_EQ(memory.hear(hello(1, 1), {}), Verdict::new_life);
    memory.attested(directory, log_id(3, 9));
    memory.forget_attested_but({{7, 9}, {{NodeId{2}, directory, "host:1"}}, {}, {}});
    memory.forget_attested_but({{7, 9}, {{NodeId{2}, Incarnation{21}, "host:1"}}, {}, {}});
    ASSERT_EQ(memory.hear(hello(2, 2), {}), Verdict::new_life);
    EXPECT_TRUE(believes(memory, PreVoteRequest{Term{9}, 1, log_id(3, 8)}));
}

}  // namespace
}  // namespace mortise::core
