#include "core/node/pending_reads.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "core/base/check.hpp"

namespace mortise::core::test {
namespace {

Call inspect(std::uint64_t tag) {
    InspectCall call;
    call.tag = CallTag{tag};
    return call;
}

std::vector<CallTag> tags(const std::vector<Call>& calls) {
    std::vector<CallTag> tags;
    for (const auto& call : calls)
        tags.push_back(tag_of(call));
    return tags;
}

struct PendingReadsTest : testing::Test {
    void add(std::uint64_t tag) { reads.add(inspect(tag), {100}); }
    void ask(std::uint64_t id, Instant again) { reads.ask(ReadId{id}, again); }
    std::optional<Call> take_readable(LogIndex applied) {
        return reads.take_readable(applied, always);
    }
    static bool always(OperationId /*request*/) { return true; }

    PendingReads reads;
};

TEST_F(PendingReadsTest, AsksAgainUntilTheLeaderAnswers) {  // B-R3
    add(1);
    EXPECT_TRUE(reads.is_to_ask());
    ask(1, {10});
    EXPECT_FALSE(reads.is_to_ask());
    EXPECT_EQ(reads.deadline(), Instant{10});
    reads.ask_again({9}, Nanoseconds{5});
    EXPECT_FALSE(reads.is_to_ask());
    reads.ask_again({10}, Nanoseconds{5});
    EXPECT_TRUE(reads.is_to_ask());
    ask(2, {20});
    reads.granted(ReadId{1}, LogIndex{4});
    EXPECT_FALSE(reads.is_readable(LogIndex{4}, always)) << "it was asked again since";
    reads.granted(ReadId{2}, LogIndex{5});
    EXPECT_EQ(reads.deadline(), Instant{100});
    EXPECT_TRUE(reads.take_given_up({99}).empty());
    EXPECT_EQ(tags(reads.take_given_up({100})), std::vector{CallTag{1}});
    EXPECT_EQ(reads.deadline(), Instant::never());
    EXPECT_FALSE(take_readable(LogIndex{5})) << "it was given up";
}

TEST_F(PendingReadsTest, AnswersInTheOrderOfTheLog) {
    add(1);
    ask(1, {10});
    add(2);
    ask(2, {11});
    reads.granted(ReadId{1}, LogIndex{7});
    reads.granted(ReadId{2}, LogIndex{5});
    reads.granted(ReadId{2}, LogIndex{9});  // a duplicate
    EXPECT_FALSE(take_readable(LogIndex{4}));
    EXPECT_EQ(tag_of(take_readable(LogIndex{8}).value()), CallTag{2});
    EXPECT_EQ(tag_of(take_readable(LogIndex{8}).value()), CallTag{1});
    EXPECT_FALSE(take_readable(LogIndex{8}));
}

TEST_F(PendingReadsTest, OneQuestionIsForAllThatCameBeforeIt) {  // P7
    add(1);
    add(2);
    ask(1, {10});
    add(3);
    EXPECT_TRUE(reads.is_to_ask());
    reads.granted(ReadId{1}, LogIndex{5});
    EXPECT_EQ(tag_of(take_readable(LogIndex{5}).value()), CallTag{1});
    EXPECT_EQ(tag_of(take_readable(LogIndex{5}).value()), CallTag{2});
    EXPECT_FALSE(take_readable(LogIndex{5})) << "it came after the question";
}

// Otherwise a node that gets no answers would ask as often as it has calls.
TEST_F(PendingReadsTest, WhatIsSoonDueIsAskedAgainWithWhatIsDue) {
    for (std::uint64_t call = 1; call <= 4; ++call) {
        add(call);
        ask(call, {static_cast<std::int64_t>(10 * call)});
    }
    reads.ask_again({10}, Nanoseconds{20});
    ask(5, {50});
    EXPECT_FALSE(reads.is_to_ask());
    EXPECT_EQ(reads.deadline(), Instant{40});
    reads.granted(ReadId{5}, LogIndex{1});
    reads.granted(ReadId{4}, LogIndex{2});
    for (std::uint64_t call = 1; call <= 4; ++call)
        EXPECT_EQ(tag_of(take_readable(LogIndex{2}).value()), CallTag{call});
}

TEST_F(PendingReadsTest, ANewLeaderIsAskedForWhatTheOldOneDidNotAnswer) {
    add(1);
    ask(1, {10});
    add(2);
    ask(2, {11});
    reads.granted(ReadId{1}, LogIndex{5});
    reads.ask_all_again();
    ask(3, {12});
    reads.granted(ReadId{3}, LogIndex{6});
    EXPECT_EQ(tag_of(take_readable(LogIndex{5}).value()), CallTag{1});
    EXPECT_EQ(tag_of(take_readable(LogIndex{6}).value()), CallTag{2});
    reads.ask_all_again();
    EXPECT_FALSE(reads.is_to_ask());
}

// S20: what this node sent before the try must be applied before the answer.
TEST_F(PendingReadsTest, ACallBehindARequestWaitsUntilThatIsApplied) {
    reads.add(inspect(1), {100}, {SessionId{1}, Seq{5}});
    reads.add(inspect(2), {100}, {SessionId{1}, Seq{6}});
    add(3);
    ask(1, {10});
    reads.granted(ReadId{1}, LogIndex{4});
    Seq applied{4};
    const auto is_applied = [&](OperationId request) { return request.seq <= applied; };
    EXPECT_EQ(tag_of(reads.take_readable(LogIndex{4}, is_applied).value()), CallTag{3});
    EXPECT_FALSE(reads.take_readable(LogIndex{4}, is_applied));
    EXPECT_FALSE(reads.is_readable(LogIndex{4}, is_applied));
    applied = Seq{5};
    EXPECT_TRUE(reads.is_readable(LogIndex{4}, is_applied));
    EXPECT_EQ(tag_of(reads.take_readable(LogIndex{4}, is_applied).value()), CallTag{1});
    EXPECT_FALSE(reads.take_readable(LogIndex{4}, is_applied));
    reads.cancel(CallTag{2});
    applied = Seq{6};
    EXPECT_FALSE(reads.take_readable(LogIndex{4}, is_applied));
}

TEST_F(PendingReadsTest, CancelsByTag) {
    add(1);
    ask(1, {10});
    add(2);
    ask(2, {11});
    reads.granted(ReadId{2}, LogIndex{5});
    add(3);
    EXPECT_TRUE(reads.cancel(CallTag{1}));
    EXPECT_TRUE(reads.cancel(CallTag{2}));
    EXPECT_TRUE(reads.cancel(CallTag{3}));
    EXPECT_FALSE(reads.cancel(CallTag{2}));
    EXPECT_TRUE(reads.take_all().empty());
    EXPECT_FALSE(reads.is_to_ask()) << "for nobody";
    EXPECT_EQ(reads.deadline(), Instant::never());
}

TEST_F(PendingReadsTest, ATagWaitsOnce) {
    add(1);
    EXPECT_THROW(add(1), InvariantBroken);
}

}  // namespace
}  // namespace mortise::core::test
