// Broken holds (S24) and writes of values (S36), as their node sees them.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/core/agent/agent_by_hand.hpp"

namespace mortise::core {
namespace {

using namespace test;

class AgentWrites : public testing::Test {
protected:
    void SetUp() override { hold = agent.hold(); }
    void broken(Seq operation = Seq{1}, std::string name = "name") {
        agent.agent.on_outcome(LockBroken{{SessionId{9}, Seq{1}},
                                          std::move(name),
                                          FencingToken{5},
                                          {{session, operation}},
                                          {}},
                               LogIndex{++agent.index}, agent.now);
    }
    // `a` and `b`, as one operation.
    OperationId hold_both() {
        AcquireCall call;
        call.request.which = Acquire::Which::all;
        call.tag = CallTag{80};
        call.request.names = {{"a"}, {"b"}};
        agent.agent.on_acquire(std::move(call), agent.now);
        const OperationId both{session, sent().at(0).seq};
        const Answer given{
            AnswerKind::granted, {}, {}, {{"a", FencingToken{5}, {}}, {"b", FencingToken{6}, {}}}};
        agent.agent.on_outcome(Answered{both, given}, LogIndex{++agent.index}, agent.now);
        agent.agent.collect(agent.now);
        return both;
    }
    void renewed(std::vector<Seq> lost) {
        agent.agent.on_outcome(SessionRenewed{session, 1, std::move(lost)}, LogIndex{++agent.index},
                               agent.now);
    }
    // The requests that are sent now.
    std::vector<Request> sent() { return requests_in(agent.agent.collect(agent.now)); }
    void write(std::uint64_t tag, RequestBody body, OperationId of) {
        agent.agent.on_write(WriteCall{CallTag{tag}, of, std::move(body)}, agent.now);
    }

    Agent agent;
    OperationId hold;
};

TEST_F(AgentWrites, ABrokenHoldIsLostAndThenConfirmed) {  // S24
    broken();
    const auto told = agent.agent.collect(agent.now);
    ASSERT_EQ(told.lost.size(), 1U);
    EXPECT_EQ(told.lost.front().hold, hold);
    EXPECT_EQ(told.lost.front().reason, HoldLost::Reason::broken);
    // The owner was not notified yet, so the cluster must not be informed.
    EXPECT_TRUE(told.forwards.empty());
    agent.agent.begin(agent.now);
    EXPECT_TRUE(sent().empty());
    agent.agent.on_notified(hold);
    const auto requests = sent();
    ASSERT_EQ(requests.size(), 1U);
    const bool lost = true;  // the other names are lost as well
    EXPECT_EQ(requests.front().body, (RequestBody{Release{Seq{1}, lost}}));
}

TEST_F(AgentWrites, IsToldOnceHoweverOftenItIsSaid) {  // S24
    broken();
    renewed({Seq{1}});
    EXPECT_EQ(agent.agent.collect(agent.now).lost.size(), 1U);
    renewed({Seq{1}});
    EXPECT_TRUE(agent.agent.collect(agent.now).lost.empty());
    agent.agent.on_notified(hold);
    EXPECT_EQ(sent().size(), 1U);
}

// A node that missed the break learns of it with the renewal, before its lease is extended.
TEST_F(AgentWrites, ARenewalThatTellsOfItIsEnough) {  // S24
    renewed({Seq{1}});
    const auto told = agent.agent.collect(agent.now);
    ASSERT_EQ(told.lost.size(), 1U);
    EXPECT_EQ(told.lost.front().reason, HoldLost::Reason::broken);
}

TEST_F(AgentWrites, ASnapshotThatTellsOfItIsEnough) {  // S24
    auto own = Agent::own_session(Seq{1});
    own.broken.insert(Seq{1});
    agent.state_replaced(std::move(own));
    EXPECT_EQ(agent.agent.collect(agent.now).lost.size(), 1U);
}

// The state has the grant, and the break.
TEST_F(AgentWrites, WhatWasGrantedAndBrokenMeanwhileIsNotBelieved) {  // S24, P3
    agent.acquire(1, Instant::never());
    agent.send_all();
    auto own = Agent::own_session(Seq{2});
    own.broken.insert(Seq{2});
    own.answers.keep(LogIndex{5}, Seq{2}, {AnswerKind::granted, FencingToken{5}, {}});
    agent.state_replaced(std::move(own));
    const auto requests = agent.sent();
    ASSERT_EQ(requests.size(), 1U);
    EXPECT_EQ(requests.front().body, RequestBody{Cancel{Seq{2}}});
    EXPECT_EQ(agent.answers_to(CallTag{2}), std::vector{std::optional{CallError::lock_lost}});
}

TEST_F(AgentWrites, WhatWasGrantedInTheSameStepWasNeverHad) {  // S24
    agent.acquire(1, Instant::never());
    agent.answered(Seq{2}, AnswerKind::granted);
    broken(Seq{2});
    const auto told = agent.agent.collect(agent.now);
    EXPECT_TRUE(told.lost.empty());
    EXPECT_EQ(told.withdrawn, (std::vector{OperationId{session, Seq{2}}}));
    ASSERT_EQ(told.answers.size(), 1U);
    EXPECT_EQ(std::get<CallError>(told.answers.front().result), CallError::lock_lost);
}

// One of them was broken: the confirmation releases the others as lost.
TEST_F(AgentWrites, ABrokenNameEndsAllNamesOfItsHold) {  // S24, S32
    const auto both = hold_both();
    broken(both.seq, "a");
    const auto told = agent.agent.collect(agent.now);
    ASSERT_EQ(told.lost.size(), 1U);
    EXPECT_EQ(told.lost.front().hold, both);
    EXPECT_EQ(told.lost.front().reason, HoldLost::Reason::broken);
    agent.agent.on_notified(both);
    const auto requests = sent();
    ASSERT_EQ(requests.size(), 1U);
    EXPECT_EQ(requests.front().body, (RequestBody{Release{both.seq, true}}));
    agent.answered(requests.front().seq, AnswerKind::lost);
    EXPECT_EQ(agent.agent.outstanding(), 0U);
}

TEST_F(AgentWrites, AWriteThatWasSentIsUnknownWhenTheNodeCloses) {  // P6
    write(2, SetValue{Seq{1}, "name", "value"}, hold);
    ASSERT_EQ(sent().size(), 1U);
    agent.close();
    EXPECT_EQ(agent.answers_to(CallTag{2}), std::vector{std::optional{CallError::outcome_unknown}});
}

TEST_F(AgentWrites, AWriteThatWasNotSentIsNotMadeWhenTheNodeCloses) {
    write(2, SetValue{Seq{1}, "name", "value"}, hold);
    agent.close();
    EXPECT_EQ(agent.answers_to(CallTag{2}), std::vector{std::optional{CallError::node_stopped}});
}

TEST_F(AgentWrites, AReleaseThatWasOvertakenByABreakSaysSo) {  // S24
    agent.agent.on_release({CallTag{77}, hold}, agent.now);
    agent.agent.collect(agent.now);
    broken();
    agent.answered(Seq{2}, AnswerKind::lost);
    EXPECT_EQ(agent.answers_to(CallTag{77}), std::vector{std::optional{CallError::lock_lost}});
}

TEST_F(AgentWrites, AreAskedForOnceAndAnswered) {  // S36
    write(80, SetValue{Seq{1}, "name", "value"}, hold);
    const auto requests = sent();
    ASSERT_EQ(requests.size(), 1U);
    EXPECT_EQ(requests.front().body, (RequestBody{SetValue{Seq{1}, "name", "value"}}));
    agent.answered(Seq{2}, AnswerKind::stored);
    EXPECT_EQ(agent.answers_to(CallTag{80}), std::vector{std::optional<CallError>{}});
}

// It does not take effect at any later time either, unless a copy is in transit.
TEST_F(AgentWrites, NobodyKnowsWhatBecameOfOneThatWasNotAnswered) {  // P6
    write(80, BreakLock{"name", FencingToken{1}, {}}, {});
    ASSERT_EQ(sent().size(), 1U);
    agent.pass(10s);
    const auto again = agent.sent();
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(again.front().body, RequestBody{Declined{}});
    const auto answers = agent.answers_to(CallTag{80});
    EXPECT_EQ(answers, std::vector{std::optional{CallError::outcome_unknown}});
}

TEST_F(AgentWrites, WithoutAHoldAreRefusedHere) {  // S19
    write(80, SetValue{Seq{9}, "name", "value"}, {session, Seq{9}});
    EXPECT_EQ(agent.answers_to(CallTag{80}), std::vector{std::optional{CallError::lock_lost}});
    EXPECT_TRUE(sent().empty());
}

}  // namespace
}  // namespace mortise::core
