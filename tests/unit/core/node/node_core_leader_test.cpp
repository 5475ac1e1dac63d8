// A leader that gets more requests than it can handle.
#include <algorithm>
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

// The requests of a session that requests as much as it can.
class Heavy {
public:
    explicit Heavy(SessionId session) : session_{session} {}
    Bytes batch() {
        BatchBuilder out;
        const Acquire acquire{
            {{std::string(name_bytes_max, 'n'), LockMode::exclusive}}, true, {}, false, {}};
        for (std::size_t i = 0; i < entry_commands_max; ++i, next_ = next_.next())
            out.add(Request{session_, next_, acquire});
        return out.take();
    }

private:
    SessionId session_;
    Seq next_{1};
};

class NodeCoreLeader : public testing::Test {
protected:
    NodeCoreLeader() {
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
    // One request for each number, each for a name of its own.
    void acquires(SessionId session, std::uint64_t from, std::uint64_t to) {
        BatchBuilder out;
        for (auto seq = from; seq <= to; ++seq)
            out.add(
                Request{session, Seq{seq}, Acquire{{{std::to_string(seq)}}, true, {}, false, {}}});
        forward(out.take());
    }
    SessionId open_session() {
        auto opening = opening_of(asker, 60'000);
        opening.nonce += ++opened;  // another session each time
        forward(batch(opening));
        cluster.settle();
        return leader->core().machine().sessions().newest();
    }

    static constexpr NodeId asker{77};
    NodeCluster cluster{1, 2, 3};
    HandDrivenNode* leader = nullptr;
    std::uint64_t opened = 0;
};

TEST_F(NodeCoreLeader, AFloodDoesNotStopTheLeader) {  // P11, B-F7
    Heavy heavy{open_session()};
    const auto session = open_session();
    forward(batch(
        Request{session, Seq{1}, Acquire{{{"y", LockMode::exclusive}}, true, {}, false, {}}}));
    cluster.settle();
    forward(batch(
        Request{session, Seq{2}, CloseSession{}}));  // leaves a name to sweep, after the flood
    const auto flood = [&] {
        for (int i = 0; i < 300; ++i)
            forward(heavy.batch());
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

// P10: an entry is applied in one piece, and a slow disk does not get one write for each.
TEST_F(NodeCoreLeader, MuchThatWaitsIsOneWriteOfSmallEntries) {
    constexpr std::size_t batches = 5;
    Heavy heavy{open_session()};
    for (std::size_t i = 0; i < batches + 2; ++i)
        forward(heavy.batch());
    ASSERT_EQ(leader->writes.size(), 2U);  // the first two; the rest gathers behind them
    leader->complete_write();
    ASSERT_EQ(leader->writes.size(), 2U);
    const auto& entries = leader->writes.back().append;
    EXPECT_EQ(entries.size(), batches);
    for (const auto& entry : entries)
        EXPECT_LE(decode_batch(entry.payload).value().size(), entry_commands_max);
}

// Under load an entry would otherwise carry one command, and cost as much as one that carries many.
TEST_F(NodeCoreLeader, CommandsGatherUntilTheyAreTwiceThoseUnderWay) {
    const auto session = open_session();
    acquires(session, 1, 3);
    ASSERT_EQ(leader->writes.size(), 1U);
    leader->complete_writes();  // on this disk alone
    acquires(session, 4, 8);
    EXPECT_TRUE(leader->writes.empty());
    acquires(session, 9, 9);
    ASSERT_EQ(leader->writes.size(), 1U);
    ASSERT_EQ(leader->writes.front().append.size(), 1U);
    EXPECT_EQ(decode_batch(leader->writes.front().append[0].payload).value().size(), 6U);
    acquires(session, 10, 10);
    EXPECT_EQ(leader->writes.size(), 1U);
    cluster.settle();  // a commit lets the rest go
    EXPECT_EQ(leader->core().machine().sessions().find(session)->applied, Seq{10});
}

// With a slow majority there are always entries of renewals under way.
TEST_F(NodeCoreLeader, RenewalsThatAreUnderWayHoldNoCommandUp) {
    const auto session = open_session();
    for (std::uint64_t beat = 1; beat <= 6; ++beat) {
        forward({}, Renewal{session, 10 + beat});
        leader->now = leader->now + heartbeat;
        leader->timer();
        leader->complete_writes();
    }
    forward(batch(Request{session, Seq{1}, Acquire{{{"x"}}, true, {}, false, {}}}));
    EXPECT_EQ(leader->writes.size(), 1U);
}

// A renewal makes an entry in any case, and takes along what gathers.
TEST_F(NodeCoreLeader, CommandsThatGatherGoWithRenewals) {
    const auto session = open_session();
    acquires(session, 1, 4);
    leader->complete_writes();
    acquires(session, 5, 5);
    ASSERT_TRUE(leader->writes.empty());
    forward({}, Renewal{session, 12});
    leader->now = leader->now + heartbeat;
    leader->timer();
    ASSERT_EQ(leader->writes.size(), 1U);
    EXPECT_EQ(decode_batch(leader->writes.front().append[0].payload).value().size(), 2U);
}

TEST_F(NodeCoreLeader, ASingleCallerDoesNotWaitForItsFormerCommands) {
    const auto session = open_session();
    for (std::uint64_t seq = 1; seq <= 3; ++seq) {
        acquires(session, seq, seq);
        ASSERT_EQ(leader->writes.size(), 1U);
        leader->complete_writes();
    }
}

TEST_F(NodeCoreLeader, ARenewalIsTakenAlsoWhenItsBatchesAreNot) {
    const auto session = open_session();
    const auto refused = leader->core().refused_messages();
    forward(Bytes{std::string{"no batch"}}, Renewal{session, 12});
    EXPECT_EQ(leader->core().refused_messages(), refused + 1);
    cluster.run_for(std::chrono::seconds{1});
    const auto* renewed = leader->core().machine().sessions().find(session);
    ASSERT_NE(renewed, nullptr);
    EXPECT_EQ(renewed->renewal_number, 12U);
}

// Its renewal is not proposed any more. The time at which it was due must not stay due.
TEST_F(NodeCoreLeader, ARenewalOfASessionThatEndsMakesNoTimerFireForEver) {
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

// P11: each is answered under its own number instead of timing out, and the requests behind it
// proceed.
TEST_F(NodeCoreLeader, TooManyAcquiresAreDeclined) {
    const auto session = open_session();
    Heavy heavy{session};
    // Its disk is slow, so that everything gathers.
    for (int i = 0; i < 200; ++i)
        forward(heavy.batch());
    cluster.settle();
    const auto* flooding = leader->core().machine().sessions().find(session);
    const auto asked = flooding->applied.raw();
    EXPECT_EQ(asked, 200 * entry_commands_max) << "all are answered";
    EXPECT_LT(flooding->operations.size(), asked) << "and not all are queued";
    EXPECT_GT(flooding->operations.size(), asked / 10);
}

// Who asks for little has its turn with the next entry, and is not declined.
TEST_F(NodeCoreLeader, AFloodOfOneSessionDelaysNoOther) {  // P10
    Heavy heavy{open_session()};
    const auto session = open_session();
    for (int i = 0; i < 200; ++i)
        forward(heavy.batch());
    acquires(session, 1, 1);
    const auto before = leader->raft().log().last().index;
    leader->complete_writes();
    const auto& sessions = leader->core().machine().sessions();
    const auto next = leader->raft().log().at(before.next()).payload;
    EXPECT_TRUE(std::ranges::any_of(decode_batch(next).value(), [&](const Command& command) {
        const auto* request = std::get_if<Request>(&command);
        return request != nullptr && request->session == session &&
               std::holds_alternative<Acquire>(request->body);
    }));
    cluster.settle();
    EXPECT_EQ(sessions.find(session)->operations.size(), 1U);
}

// --- streams (S17, docs/decisions/0039)

class LeadingStreams : public NodeCoreLeader {
protected:
    void SetUp() override {
        NodeCoreLeader::SetUp();
        session = open_session();
    }
    void say(const std::vector<std::uint64_t>& numbers) {
        BatchBuilder out;
        for (const auto seq : numbers)
            out.add(Request{session, Seq{seq}, Release{Seq{seq}}});
        leader->receive(asker, forward_of(out.take()));
    }
    void say_and_settle(const std::vector<std::uint64_t>& numbers) {
        say(numbers);
        cluster.settle();
    }
    [[nodiscard]] Seq applied() const {
        return leader->core().machine().sessions().find(session)->applied;
    }
    [[nodiscard]] LogIndex last() const { return leader->raft().log().last().index; }

    SessionId session;
};

TEST_F(LeadingStreams, NothingIsLeftOut) {
    say_and_settle({1, 2});
    EXPECT_EQ(applied(), Seq{2});
    const auto before = last();
    say_and_settle({4, 5});
    EXPECT_EQ(last(), before) << "it is not proposed";
    say_and_settle({3, 4});
    EXPECT_EQ(applied(), Seq{4});
}

// Before it is applied.
TEST_F(LeadingStreams, WhatIsProposedIsNotProposedAgain) {
    say({1, 2});
    const auto before = last();
    say({1, 2});
    EXPECT_EQ(last(), before);
    say({1, 2, 3});
    cluster.settle();
    EXPECT_EQ(applied(), Seq{3});
    const auto& entry = leader->raft().log().at(last());
    const auto commands = decode_batch(entry.payload).value();
    ASSERT_EQ(commands.size(), 1U);
    EXPECT_EQ(std::get<Request>(commands.front()).seq, Seq{3});
}

TEST_F(LeadingStreams, TheSenderIsToldOnceWhereToGoOn) {
    say_and_settle({1});
    say({4});
    say({5});  // sent before its sender was informed
    const auto told = leader->take<StreamGap>(asker);
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told.front().session, session);
    EXPECT_EQ(told.front().next, Seq{2});
    say({2});
    say({4});
    const auto again = leader->take<StreamGap>(asker);
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(again.front().next, Seq{3});
}

// P11: a session that acknowledges nothing. The requests that were proposed for it had no effect.
TEST_F(LeadingStreams, GoesOnAfterTooManyAnswersOnceTheyAreAcknowledged) {
    const auto& sessions = leader->core().machine().sessions();
    std::vector<std::uint64_t> some;
    for (std::uint64_t next = 1; next <= session_requests_max + 100; some.clear()) {
        while (some.size() < 1'000)
            some.push_back(next++);
        say_and_settle(some);
    }
    ASSERT_TRUE(sessions.find(session)->has_too_many_answers());
    const auto next = applied().next().raw();
    say_and_settle({next, next + 1});
    EXPECT_EQ(applied(), Seq{next - 1});
    BatchBuilder out;
    out.add(Acknowledge{session, leader->core().applied_index()});
    leader->receive(asker, forward_of(out.take()));
    cluster.settle();
    say_and_settle({next, next + 1});
    EXPECT_EQ(applied(), Seq{next + 1});
}

// The acknowledgement counts although the requests beside it are not taken.
TEST_F(LeadingStreams, AnAcknowledgementIsTakenBesideAGap) {
    say_and_settle({1});
    const auto& sessions = leader->core().machine().sessions();
    ASSERT_EQ(sessions.find(session)->answers.size(), 1U);
    BatchBuilder out;
    out.add(Request{session, Seq{3}, Release{Seq{1}}});
    out.add(Acknowledge{session, leader->core().applied_index()});
    leader->receive(asker, forward_of(out.take()));
    cluster.settle();
    EXPECT_EQ(sessions.find(session)->answers.size(), 0U);
    EXPECT_EQ(applied(), Seq{1});
}

TEST_F(LeadingStreams, WhatASessionThatEndedAsksForIsLeftOut) {
    BatchBuilder out;
    out.add(Request{session, Seq{1}, CloseSession{}});
    leader->receive(asker, forward_of(out.take()));
    cluster.settle();
    const auto before = last();
    say_and_settle({2});
    EXPECT_EQ(last(), before);
}

TEST_F(LeadingStreams, RequestsThatAreNoPartOfAStreamAreRefused) {
    const auto refused = leader->core().refused_messages();
    say({1, 3});
    say({2, 1});
    EXPECT_EQ(leader->core().refused_messages(), refused + 2);
    EXPECT_EQ(applied(), Seq{});
}

TEST_F(LeadingStreams, ABatchThatWasNotTakenLeavesTheStreamWhereItWas) {
    leader->receive(asker, forward_of(Bytes{std::string{"no batch"}}));
    say_and_settle({1});
    EXPECT_EQ(applied(), Seq{1});
}

// Requests that an earlier leader put into the log, and this one has not applied yet, come before
// these.
TEST(NewLeader, TakesWhatFollowsWhatItHasNotAppliedYet) {
    BatchBuilder requests;
    const SessionId session{SessionId{}.next()};
    for (std::uint64_t seq = 1; seq <= 2; ++seq)
        requests.add(Request{session, Seq{seq}, Release{Seq{seq}}});
    auto state = disk_with(voters({1, 2, 3}), {Term{1}, {}}, {1, 1});
    state.entries[1] = make_entry(log_id(1, 2), EntryKind::commands, batch(opening_of(n2, 60'000)));
    state.entries[2] = make_entry(log_id(1, 3), EntryKind::commands, requests.take());
    HandDrivenNode node{node_options(1, {1, 2, 3}), state};
    node.step(PeerUp{HandDrivenNode{node_options(2, {1, 2, 3}), state}.hello()});
    node.receive(n2, RaftMessage{append(1, log_id(1, 3), {}, 2)});
    const auto* opened = node.core().machine().sessions().find(session);
    ASSERT_NE(opened, nullptr);
    ASSERT_EQ(opened->applied, Seq{});

    while (node.raft().role() == Role::follower)
        node.timer_when_due();
    node.receive(n2,
                 RaftMessage{PreVoteReply{Term{1}, node.newest<PreVoteRequest>(n2).round, true}});
    node.complete_writes();
    node.receive(n2, RaftMessage{VoteReply{Term{2}, node.newest<VoteRequest>(n2).round, true}});
    node.complete_writes();
    ASSERT_TRUE(node.raft().is_leader());
    node.receive(n2, forward_of(batch(Request{session, Seq{3}, Release{Seq{3}}})));
    EXPECT_EQ(opened->applied, Seq{});
    for (auto index = 4U; index <= node.raft().log().last().index.raw(); ++index) {
        node.receive(n2, RaftMessage{accepts(2, index)});
        node.complete_writes();
    }
    EXPECT_EQ(node.core().machine().sessions().find(session)->applied, Seq{3});
    EXPECT_EQ(node.sent_to<StreamGap>(n2), 0U);
}

}  // namespace
}  // namespace mortise::core
