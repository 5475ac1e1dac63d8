#include "transport/peers/outbox.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/prng.hpp"
#include "core/node/node_core.hpp"
#include "transport/wire/wire_size.hpp"

namespace mortise::transport {
namespace {

using core::LogIndex;
using core::Term;
using testing::ElementsAre;
using testing::IsEmpty;

// The index identifies the message.
core::PeerMessage append(std::uint64_t index, std::size_t bytes) {
    core::AppendRequest m;
    m.previous = {Term{1}, LogIndex{index}};
    if (bytes > 0) {
        m.entries.push_back({{Term{1}, LogIndex{index + 1}},
                             core::EntryKind::commands,
                             0,
                             core::Bytes{std::string(bytes, 'x')}});
    }
    return core::RaftMessage{m};
}
core::PeerMessage heartbeat(std::uint64_t index) {
    return append(index, 0);
}
core::PeerMessage vote(std::uint64_t round) {
    return core::RaftMessage{core::VoteRequest{Term{1}, round, {}, false}};
}
core::PeerMessage forward(std::size_t bytes) {
    return core::Forward{core::Bytes{std::string(bytes, 'x')}, {}};
}

std::string in_words(const core::PeerMessage& message) {
    if (std::holds_alternative<core::Forward>(message)) return "forward";
    const auto& raft = std::get<core::RaftMessage>(message);
    if (const auto* m = std::get_if<core::AppendRequest>(&raft)) {
        const auto* what = m->entries.empty() ? "heartbeat " : "append ";
        return what + std::to_string(m->previous.index.raw());
    }
    if (const auto* m = std::get_if<core::VoteRequest>(&raft)) {
        return "vote " + std::to_string(m->round);
    }
    return "other";
}

std::vector<std::string> in_words(const std::vector<core::PeerMessage>& batch) {
    std::vector<std::string> words;
    for (const auto& message : batch)
        words.push_back(in_words(message));
    return words;
}

constexpr OutboxLimits small{.bytes_max = 4'000, .batch_bytes_max = 1'500, .batch_messages_max = 4};

// The largest chunk fits in a frame, however short its rows are.
TEST(Outbox, AChunkOfTheShortestRowsFits) {
    const core::Row shortest{std::string(9, 'I'), std::string(2, '1')};
    const auto count = core::NodeOptions{}.snapshot_bytes_max / 11 + 1;
    ASSERT_LT(count, rows_max);
    core::SnapshotChunk chunk;
    chunk.rows.assign(count, shortest);
    EXPECT_LT(wire_words(core::RaftMessage{chunk}), forwarding_frame_words_max);
}

TEST(Outbox, EveryKindHasItsLane) {
    EXPECT_EQ(lane_of(forward(1)), Lane::forwarding);
    EXPECT_EQ(lane_of(vote(1)), Lane::replication);
    EXPECT_EQ(lane_of(append(1, 1)), Lane::replication);
    EXPECT_EQ(lane_of(core::FormationOffer{}), Lane::replication);
    EXPECT_EQ(lane_of(core::RaftMessage{core::SnapshotChunk{}}), Lane::forwarding);
    EXPECT_EQ(lane_of(core::RaftMessage{core::SnapshotReply{}}), Lane::replication);
    EXPECT_EQ(lane_of(core::RaftMessage{core::NotAMember{}}), Lane::replication);
}

TEST(Outbox, GivesWhatWaitsInOrderAsOneBatch) {
    Outbox outbox{Lane::replication, small};
    EXPECT_TRUE(outbox.empty());
    EXPECT_THAT(outbox.take_batch(), IsEmpty());
    outbox.push(append(1, 100));
    outbox.push(heartbeat(2));
    outbox.push(core::FormationOffer{});
    EXPECT_EQ(outbox.size(), 3U);
    const auto batch = outbox.take_batch();
    ASSERT_EQ(batch.size(), 3U);
    EXPECT_EQ(in_words(batch[0]), "append 1");
    EXPECT_EQ(in_words(batch[1]), "heartbeat 2");
    EXPECT_TRUE(std::holds_alternative<core::FormationOffer>(batch[2]));
    EXPECT_TRUE(outbox.empty());
    EXPECT_EQ(outbox.bytes(), 0U);
}

TEST(Outbox, VotesGoFirstAndNothingElseIsReordered) {
    Outbox outbox{Lane::replication, small};
    outbox.push(append(1, 10));
    outbox.push(heartbeat(2));
    outbox.push(vote(7));
    outbox.push(vote(8));
    EXPECT_THAT(in_words(outbox.take_batch()),
                ElementsAre("vote 7", "vote 8", "append 1", "heartbeat 2"));
}

TEST(Outbox, ABatchEndsAtItsBytesAndAtItsCount) {
    Outbox outbox{Lane::replication, small};
    for (std::uint64_t i = 1; i <= 3; ++i)
        outbox.push(append(i, 800));
    EXPECT_THAT(in_words(outbox.take_batch()), ElementsAre("append 1"));
    EXPECT_THAT(in_words(outbox.take_batch()), ElementsAre("append 2"));
    outbox.clear();
    for (std::uint64_t i = 1; i <= 5; ++i)
        outbox.push(heartbeat(i));
    EXPECT_EQ(outbox.take_batch().size(), small.batch_messages_max);
    EXPECT_THAT(in_words(outbox.take_batch()), ElementsAre("heartbeat 5"));
}

TEST(Outbox, ABatchThatIsExactlyFullIsOne) {
    const auto each = wire_words(append(1, 640)) * word_bytes;
    for (const std::size_t less : {0U, 1U}) {
        Outbox outbox{Lane::replication, {.batch_bytes_max = 2 * each - less}};
        outbox.push(append(1, 640));
        outbox.push(append(2, 640));
        EXPECT_EQ(outbox.take_batch().size(), 2 - less);
    }
}

TEST(Outbox, AMessageThatIsLargerThanABatchTravelsAlone) {
    Outbox outbox{Lane::replication, small};
    outbox.push(append(1, 3'000));
    outbox.push(heartbeat(2));
    EXPECT_THAT(in_words(outbox.take_batch()), ElementsAre("append 1"));
    EXPECT_THAT(in_words(outbox.take_batch()), ElementsAre("heartbeat 2"));
}

TEST(Outbox, WithoutRoomReplicationDropsTheEntriesThatWaitAndKeepsTheRest) {  // B-F4
    Outbox outbox{Lane::replication, small};
    outbox.push(append(1, 1'500));
    outbox.push(heartbeat(2));
    outbox.push(vote(3));
    outbox.push(append(4, 1'500));
    EXPECT_EQ(outbox.dropped(), 0U);
    outbox.push(append(5, 1'500));
    EXPECT_EQ(outbox.dropped(), 2U);
    EXPECT_LE(outbox.bytes(), small.bytes_max);
    std::vector<std::string> left;
    while (!outbox.empty()) {
        for (const auto& words : in_words(outbox.take_batch()))
            left.push_back(words);
    }
    EXPECT_THAT(left, ElementsAre("vote 3", "heartbeat 2", "append 5"));
    EXPECT_EQ(outbox.bytes(), 0U);
}

TEST(Outbox, AFloodOfSmallMessagesStaysWithinItsBound) {  // P11
    Outbox outbox{Lane::replication, small};
    for (std::uint64_t i = 1; i <= 1'000; ++i) {
        outbox.push(heartbeat(i));
        ASSERT_LE(outbox.bytes(), small.bytes_max);
    }
    EXPECT_GT(outbox.dropped(), 0U);
    std::string newest;
    while (!outbox.empty())
        newest = in_words(outbox.take_batch().back());
    EXPECT_EQ(newest, "heartbeat 1000");
    for (std::uint64_t i = 1; i <= 1'000; ++i) {
        outbox.push(vote(i));
        ASSERT_LE(outbox.bytes(), small.bytes_max);
    }
}

TEST(Outbox, WithoutRoomForwardingRefusesTheNewest) {
    Outbox outbox{Lane::forwarding, small};
    outbox.push(forward(1'900));
    outbox.push(forward(1'901));
    outbox.push(forward(1'902));
    EXPECT_EQ(outbox.dropped(), 1U);
    EXPECT_EQ(outbox.size(), 2U);
    const auto first = outbox.take_batch();
    EXPECT_EQ(std::get<core::Forward>(first.front()).batch.size(), 1'900U);
}

core::Forward renewal(std::uint64_t session, std::uint64_t number, std::size_t bytes = 0) {
    return {core::Bytes{std::string(bytes, 'x')}, core::Renewal{core::SessionId{session}, number}};
}

TEST(Outbox, AFloodDoesNotDropRenewals) {
    Outbox outbox{Lane::forwarding, small};
    outbox.push(forward(1'900));
    outbox.push(forward(1'900));
    outbox.push(renewal(1, 7, 1'900));
    outbox.push(renewal(2, 4));
    EXPECT_EQ(outbox.dropped(), 1U);  // the message after the first one
    const auto batch = outbox.take_batch();
    ASSERT_GE(batch.size(), 2U);
    const auto& first = std::get<core::Forward>(batch[0]);
    EXPECT_EQ(first.renewal, (core::Renewal{core::SessionId{1}, 7}));
    EXPECT_TRUE(first.batch.empty());
    EXPECT_EQ(std::get<core::Forward>(batch[1]).renewal, (core::Renewal{core::SessionId{2}, 4}));
}

TEST(Outbox, TheNewestRenewalOfASessionWaitsOnce) {
    Outbox outbox{Lane::forwarding, small};
    for (std::uint64_t number = 1; number <= 1'000; ++number)
        outbox.push(renewal(1, number));
    outbox.push(renewal(1, 5));
    EXPECT_EQ(outbox.size(), 1U);
    EXPECT_EQ(outbox.dropped(), 0U);
    const auto batch = outbox.take_batch();
    EXPECT_EQ(std::get<core::Forward>(batch.at(0)).renewal->number, 1'000U);
    EXPECT_EQ(outbox.bytes(), 0U);
}

TEST(Outbox, OneMessageAlwaysFitsWhenNothingWaits) {
    for (const auto lane : {Lane::replication, Lane::forwarding}) {
        Outbox outbox{lane, small};
        outbox.push(lane == Lane::replication ? append(1, 10'000) : forward(10'000));
        EXPECT_EQ(outbox.dropped(), 0U);
        EXPECT_EQ(outbox.take_batch().size(), 1U);
    }
}

TEST(Outbox, ClearingCountsNothingAsDropped) {
    Outbox outbox{Lane::replication, small};
    outbox.push(append(1, 100));
    outbox.push(vote(2));
    outbox.clear();
    EXPECT_TRUE(outbox.empty());
    EXPECT_EQ(outbox.bytes(), 0U);
    EXPECT_EQ(outbox.dropped(), 0U);
}

TEST(Outbox, CountsItsBytesThroughAnyHistory) {  // B-F1
    core::Prng prng{3};
    Outbox outbox{Lane::replication, small};
    std::size_t pushed = 0;
    std::size_t taken = 0;
    for (int i = 0; i < 20'000; ++i) {
        if (prng.one_in(3)) {
            taken += outbox.take_batch().size();
        } else {
            ++pushed;
            const auto draw = prng.below(3);
            if (draw == 0) outbox.push(vote(1));
            if (draw == 1) outbox.push(heartbeat(1));
            if (draw == 2) outbox.push(append(1, 1 + prng.below(1'200)));
        }
        ASSERT_LE(outbox.bytes(), small.bytes_max);
        ASSERT_EQ(outbox.empty(), outbox.bytes() == 0);
        ASSERT_EQ(pushed, taken + outbox.size() + outbox.dropped());
    }
    EXPECT_GT(outbox.dropped(), 0U);
}

}  // namespace
}  // namespace mortise::transport
