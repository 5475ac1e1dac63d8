// A leader that is asked for more than it can do.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/codec/command_codec.hpp"
#include "tests/support/node_fixture.hpp"

namespace mortise::core {
namespace {

using namespace test;

Bytes batch(const Command& command) {
    BatchBuilder one;
    one.add(command);
    return one.take();
}

Bytes heavy_batch(SessionId session) {
    BatchBuilder out;
    const std::string name(name_bytes_max, 'n');
    for (std::uint64_t seq = 1; seq <= entry_commands_max; ++seq)
        out.add(
            Request{session, Seq{seq}, Acquire{name, LockMode::exclusive, true, {}, false, {}}});
    return out.take();
}

class Leading : public testing::Test {
protected:
    Leading() {
        cluster.connect_all();
        cluster.run_for(std::chrono::seconds{3});
        leader = cluster.leader();
    }
    void SetUp() override {
        ASSERT_NE(leader, nullptr);
        cluster.add_played(asker);
    }

    void forward(Bytes batch, std::optional<Renewal> renewal = {}) {
        leader->receive(asker, forward_of(std::move(batch), renewal));
    }
    SessionId open_session() {
        auto opening = opening_of(asker, 60'000);
        opening.nonce += ++opened;  // each is another one
        forward(batch(opening));
        cluster.settle();
        return leader->core().machine().sessions().newest();
    }

    static constexpr NodeId asker{77};
    NodeCluster cluster{1, 2, 3};
    HandDrivenNode* leader = nullptr;
    std::uint64_t opened = 0;
};

TEST_F(Leading, AFloodDoesNotStopTheLeader) {
    const auto heavy = heavy_batch(open_session());
    const auto session = open_session();
    forward(
        batch(Request{session, Seq{1}, Acquire{"y", LockMode::exclusive, true, {}, false, {}}}));
    cluster.settle();
    forward(batch(
        Request{session, Seq{2}, CloseSession{}}));  // leaves a name to sweep, behind the flood
    const auto flood = [&] {
        for (int i = 0; i < 300; ++i)
            forward(heavy);
    };
    for (int round = 0; round < 8; ++round) {
        flood();
        cluster.deliver();
        flood();
        for (const std::uint64_t id : {1, 2, 3})
            cluster[NodeId{id}].complete_writes();
    }
    cluster.settle();
    EXPECT_FALSE(leader->core().machine().needs_sweep());
    EXPECT_TRUE(leader->core().raft().is_leader());
}

// P10: an entry is applied in one piece, and a slow disk is not asked for each of them alone.
TEST_F(Leading, MuchThatWaitsIsOneWriteOfSmallEntries) {
    constexpr std::size_t batches = 5;
    const auto heavy = heavy_batch(open_session());
    for (std::size_t i = 0; i < batches + 2; ++i)
        forward(heavy);
    ASSERT_EQ(leader->writes.size(), 2U);  // the first two; the rest gathers behind them
    leader->complete_write();
    ASSERT_EQ(leader->writes.size(), 2U);
    const auto& entries = leader->writes.back().append;
    EXPECT_EQ(entries.size(), batches);
    for (const auto& entry : entries)
        EXPECT_LE(decode_batch(entry.payload).value().size(), entry_commands_max);
}

TEST_F(Leading, ARenewalIsTakenAlsoWhenItsBatchesAreNot) {
    const auto session = open_session();
    const auto refused = leader->core().refused_messages();
    forward(Bytes{std::string{"no batch"}}, Renewal{session, 12});
    EXPECT_EQ(leader->core().refused_messages(), refused + 1);
    cluster.run_for(std::chrono::seconds{1});
    const auto* renewed = leader->core().machine().sessions().find(session);
    ASSERT_NE(renewed, nullptr);
    EXPECT_EQ(renewed->renewal_number, 12U);
}

// Its renewal is not proposed any more. What it was due for must not stay due.
TEST_F(Leading, ARenewalOfASessionThatEndsMakesNoTimerFireForEver) {
    const auto session = open_session();
    forward(batch(Request{session, Seq{1}, CloseSession{}}));
    forward({}, Renewal{session, 12});
    cluster.settle();
    ASSERT_EQ(leader->core().machine().sessions().find(session), nullptr);
    leader->now = leader->now + heartbeat;
    leader->timer();
    leader->timer();
    EXPECT_GT(leader->core().deadline(), leader->now);
}

// P11: each is answered under its own number, instead of timing out, and what is behind it goes on.
TEST_F(Leading, TooManyAcquiresAreDeclined) {
    const auto session = open_session();
    leader->acquire(1, "first");
    // Its disk takes its time, so that everything gathers.
    for (int i = 0; i < 200; ++i)
        forward(heavy_batch(session));
    leader->acquire(2, "late");
    cluster.settle();
    ASSERT_TRUE(leader->was_answered<CallError>(2));
    EXPECT_EQ(std::get<CallError>(leader->answers.back().result), CallError::resource_exhausted);
    EXPECT_TRUE(leader->was_answered<Acquired>(1));
}

// --- streams (S17, docs/decisions/0039)

class LeadingStreams : public Leading {
protected:
    void SetUp() override {
        Leading::SetUp();
        session = open_session();
    }
    void say(std::uint64_t round, std::vector<std::uint64_t> numbers) {
        BatchBuilder out;
        for (const auto seq : numbers)
            out.add(Request{session, Seq{seq}, Release{Seq{seq}}});
        leader->receive(asker, Forward{round, out.take(), {}});
        cluster.settle();
    }
    [[nodiscard]] Seq applied() const {
        return leader->core().machine().sessions().find(session)->applied;
    }
    [[nodiscard]] LogIndex last() const { return leader->raft().log().last().index; }

    SessionId session;
};

TEST_F(LeadingStreams, WithinARoundNothingIsLeftOut) {
    say(1, {1, 2});
    EXPECT_EQ(applied(), Seq{2});
    const auto before = last();
    say(1, {4, 5});
    say(1, {2, 3});
    EXPECT_EQ(last(), before) << "neither is proposed";
    say(1, {3, 4});
    EXPECT_EQ(applied(), Seq{4});
}

TEST_F(LeadingStreams, TheSenderIsToldOnceThatSomethingIsMissing) {
    const auto told = [&] {
        leader->sent.clear();
        BatchBuilder out;
        out.add(Request{session, Seq{3}, Release{Seq{1}}});
        leader->receive(asker, Forward{1, out.take(), {}});
        return leader->sent_to<StreamGap>(asker);
    };
    say(1, {1});
    EXPECT_EQ(told(), 1U);
    EXPECT_EQ(told(), 0U);
    say(2, {2});
    EXPECT_EQ(applied(), Seq{2});
}

// What travels with requests that are not taken counts all the same.
TEST_F(LeadingStreams, AnAcknowledgementIsTakenBesideAGap) {
    say(1, {1});
    const auto& sessions = leader->core().machine().sessions();
    ASSERT_EQ(sessions.find(session)->answers.size(), 1U);
    BatchBuilder out;
    out.add(Request{session, Seq{3}, Release{Seq{1}}});
    out.add(Acknowledge{session, leader->core().applied_index()});
    leader->receive(asker, Forward{1, out.take(), {}});
    cluster.settle();
    EXPECT_EQ(sessions.find(session)->answers.size(), 0U);
    EXPECT_EQ(applied(), Seq{1});
}

TEST_F(LeadingStreams, WhatASessionThatEndedAsksForIsLeftOut) {
    BatchBuilder out;
    out.add(Request{session, Seq{1}, CloseSession{}});
    leader->receive(asker, Forward{1, out.take(), {}});
    cluster.settle();
    const auto before = last();
    say(1, {2});
    EXPECT_EQ(last(), before);
}

TEST_F(LeadingStreams, ANewRoundBeginsWithAnyNumber) {
    say(1, {1, 2});
    say(2, {2, 3});
    EXPECT_EQ(applied(), Seq{3});
    say(3, {5});  // its sender knows better, or it has no effect
    EXPECT_EQ(applied(), Seq{3});
    say(4, {4, 5});
    EXPECT_EQ(applied(), Seq{5});
}

TEST_F(LeadingStreams, WhatComesLateOfAnEarlierRoundIsNotTaken) {
    say(2, {1, 2});
    const auto before = last();
    say(1, {3});
    EXPECT_EQ(last(), before);
    say(2, {3});
    EXPECT_EQ(applied(), Seq{3});
}

TEST_F(LeadingStreams, RequestsThatAreNoPartOfAStreamAreRefused) {
    const auto refused = leader->core().refused_messages();
    say(1, {1, 3});
    say(2, {2, 1});
    EXPECT_EQ(leader->core().refused_messages(), refused + 2);
    EXPECT_EQ(applied(), Seq{});
}

TEST_F(LeadingStreams, ABatchThatWasNotTakenLeavesTheRoundWhereItWas) {
    leader->receive(asker, Forward{1, Bytes{std::string{"no batch"}}, {}});
    say(1, {1});
    EXPECT_EQ(applied(), Seq{1});
}

}  // namespace
}  // namespace mortise::core
