#include "core/base/checksum.hpp"

#include <set>

#include <gtest/gtest.h>

#include "core/raft/entry.hpp"

namespace mortise::core {
namespace {

std::uint64_t sum_of(std::string_view a, std::string_view b) {
    Checksum sum;
    sum.text(a);
    sum.text(b);
    return sum.value();
}

Entry entry_of(std::size_t payload_bytes) {
    return make_entry({Term{5}, LogIndex{1000}}, EntryKind::commands,
                      Bytes{std::string(payload_bytes, 'p')});
}

TEST(Checksum, KnowsWhereAFieldEnds) {
    EXPECT_EQ(sum_of("ab", "c"), sum_of("ab", "c"));
    EXPECT_NE(sum_of("ab", "c"), sum_of("a", "bc"));
    EXPECT_NE(sum_of("", "abc"), sum_of("abc", ""));
}

TEST(Checksum, DependsOnTheOrderOfFields) {
    Checksum first;
    first.number(1);
    first.number(2);
    Checksum second;
    second.number(2);
    second.number(1);
    EXPECT_NE(first.value(), second.value());
}

// It is on disks and in messages: a build with another checksum could not read them.
TEST(Checksum, StaysWhatItIs) {
    const auto entry = make_entry({Term{3}, LogIndex{7}}, EntryKind::commands, Bytes{"mortise"});
    EXPECT_EQ(entry.checksum, 0xa95bddd9cd0aa34cU);
}

TEST(Entry, IsIntactWhenMade) {
    EXPECT_TRUE(is_intact(entry_of(0)));
    EXPECT_TRUE(is_intact(entry_of(100)));
    EXPECT_FALSE(is_intact(Entry{}));
}

TEST(Entry, NoticesAFlippedBitInItsId) {
    for (unsigned bit = 0; bit < 64; ++bit) {
        const auto flip = std::uint64_t{1} << bit;
        auto entry = entry_of(10);
        entry.id.term = Term{entry.id.term.raw() ^ flip};
        EXPECT_FALSE(is_intact(entry)) << bit;
        entry = entry_of(10);
        entry.id.index = LogIndex{entry.id.index.raw() ^ flip};
        EXPECT_FALSE(is_intact(entry)) << bit;
        entry = entry_of(10);
        entry.checksum ^= flip;
        EXPECT_FALSE(is_intact(entry)) << bit;
    }
}

TEST(Entry, NoticesAFlippedBitInItsKind) {
    for (unsigned bit = 0; bit < 8; ++bit) {
        auto entry = entry_of(10);
        entry.kind = static_cast<EntryKind>(static_cast<unsigned>(entry.kind) ^ (1U << bit));
        EXPECT_FALSE(is_intact(entry)) << bit;
    }
}

// The hash has a code path for each range of lengths.
TEST(Entry, NoticesAFlippedBitInItsPayload) {
    for (const std::size_t size : {1U, 3U, 4U, 8U, 9U, 16U, 17U, 128U, 129U, 240U, 241U, 1025U}) {
        const auto entry = entry_of(size);
        for (std::size_t bit = 0; bit < 8 * size; ++bit) {
            std::string payload{entry.payload.view()};
            payload[bit / 8] = static_cast<char>(payload[bit / 8] ^ (1U << (bit % 8)));
            auto damaged = entry;
            damaged.payload = Bytes{std::move(payload)};
            EXPECT_FALSE(is_intact(damaged)) << "bit " << bit << " of " << size << " bytes";
        }
    }
}

TEST(Entry, NoticesAPayloadCutShortOrExtended) {
    auto entry = entry_of(20);
    entry.payload = Bytes{std::string(19, 'p')};
    EXPECT_FALSE(is_intact(entry));
    entry.payload = Bytes{std::string(21, 'p')};
    EXPECT_FALSE(is_intact(entry));
    entry.payload = {};
    EXPECT_FALSE(is_intact(entry));
}

TEST(Entry, TermAndIndexAreNotInterchangeable) {
    auto entry = make_entry({Term{2}, LogIndex{3}}, EntryKind::noop, {});
    entry.id = {Term{3}, LogIndex{2}};
    EXPECT_FALSE(is_intact(entry));
}

// Thesis 3.6.1, B-V1: the term decides, then the index.
TEST(LogId, OrdersByTermThenIndex) {
    EXPECT_LT((LogId{Term{1}, LogIndex{9}}), (LogId{Term{2}, LogIndex{1}}));
    EXPECT_LT((LogId{Term{2}, LogIndex{1}}), (LogId{Term{2}, LogIndex{2}}));
    EXPECT_LT((LogId{}), (LogId{Term{1}, LogIndex{1}}));
}

}  // namespace
}  // namespace mortise::core
