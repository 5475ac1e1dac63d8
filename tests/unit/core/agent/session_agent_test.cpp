#include <string>

#include <gtest/gtest.h>

#include "core/locks/limits.hpp"
#include "tests/unit/core/agent/agent_by_hand.hpp"

namespace mortise::core::test {
namespace {

TEST(SessionAgent, TakesSoManyCallsAndNoMore) {  // P11
    Agent of;
    EXPECT_EQ(of.acquire(operations_max, Instant::never()), 0U);
    EXPECT_EQ(of.acquire(3, Instant::never()), 3U);
}

// P11: each sent acquire leaves a Cancel behind until it is confirmed.
TEST(SessionAgent, CountsWhatItHasStillToEnd) {
    Agent of;
    EXPECT_EQ(of.acquire(operations_max / 2, of.now.steady + 1ms), 0U);
    of.send_all();
    of.pass(2ms);
    of.send_all();
    EXPECT_EQ(of.acquire(operations_max / 2, Instant::never()), 0U);
    EXPECT_EQ(of.acquire(1, Instant::never()), 1U);
}

// P11: a million names are held, and the calls beside them go on as ever.
TEST(SessionAgent, HoldsAMillionNamesBesideItsCalls) {
    Agent of;
    AcquireCall call;
    call.request.which = Acquire::Which::all;
    call.deadline = Instant::never();
    Answer answer{AnswerKind::granted, FencingToken{5}, {}};
    for (std::size_t i = 0; i < names_at_once_max; ++i) {
        call.request.names.push_back({std::to_string(i)});
        answer.names.push_back({std::to_string(i), FencingToken{5}, {}, {}});
    }
    for (std::uint64_t seq = 1; seq * names_at_once_max <= 1'000'000; ++seq) {
        call.tag = CallTag{++of.tag};
        of.agent.on_acquire(call, of.now);
        (void)of.agent.collect(of.now);
        of.agent.on_outcome(Answered{{session, Seq{seq}}, answer}, LogIndex{++of.index}, of.now);
    }
    EXPECT_EQ(of.acquire(operations_max, Instant::never()), 0U);
}

// S1: one session has all holds of its node, and the reaper releases all of them at once.
TEST(SessionAgent, HoldsMoreThanItHasUnderWay) {
    Agent of;
    constexpr auto held = operations_max + 100;
    for (std::uint64_t seq = 1; seq <= held; ++seq) {
        ASSERT_EQ(of.acquire(1, Instant::never()), 0U);
        of.answered(Seq{seq}, AnswerKind::granted);
    }
    EXPECT_EQ(of.agent.outstanding(), 0U);
    of.pass(20s);  // the lease has ended
    EXPECT_EQ(of.agent.outstanding(), held);
    of.owners_notified(held);
    EXPECT_EQ(of.acquire(1, Instant::never()), 1U);
    for (std::uint64_t seq = held + 1; seq <= 2 * held; ++seq) {
        of.answered(Seq{seq}, AnswerKind::released);
        if (seq % 100 == 0) of.send_all();
    }
    EXPECT_EQ(of.agent.outstanding(), 0U);
}

TEST(SessionAgent, ACallThatWasNeverSentLeavesNothingBehind) {
    Agent of;
    of.agent.on_leader(false, of.now);
    EXPECT_EQ(of.acquire(operations_max, of.now.steady + 1ms), 0U);
    for (of.pass(2ms); of.agent.deadline() <= of.now.steady;)
        of.pass(0ms);
    EXPECT_EQ(of.agent.outstanding(), 0U);
    EXPECT_EQ(of.acquire(operations_max, Instant::never()), 0U);
}

// --- a step does a limited amount of work (P10)

TEST(SessionAgent, CallsThatEndTogetherTakeManySteps) {
    Agent of;
    of.agent.on_leader(false, of.now);
    of.acquire(operations_max, of.now.steady + 1ms);
    of.pass(2ms);
    EXPECT_EQ(of.agent.outstanding(), operations_max - 1'024);
    EXPECT_LE(of.agent.deadline(), of.now.steady);
}

TEST(SessionAgent, NoMoreThanSoManyAreUnderWay) {
    Agent of;
    of.agent.on_leader(false, of.now);
    of.acquire(4'000, Instant::never());
    of.agent.on_leader(true, of.now);
    std::size_t sent = 0;
    for (auto requests = of.sent(); !requests.empty(); requests = of.sent())
        sent += requests.size();
    EXPECT_EQ(sent, 2'048U);
}

TEST(SessionAgent, ClosingAnswersEveryCallAndEndsTheSession) {  // P6, B-A9
    Agent of;
    of.acquire(2, Instant::never());
    of.close();
    const auto output = of.agent.collect(of.now);
    ASSERT_EQ(output.answers.size(), 2U);
    for (const auto& answer : output.answers)
        EXPECT_EQ(std::get<CallError>(answer.result), CallError::node_stopped);
    const auto sent = requests_in(output);
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent.front(), (Request{session, Seq{3}, CloseSession{}}));
    EXPECT_FALSE(of.agent.is_closed());
    of.session_ends(SessionEnd::closed);
    EXPECT_EQ(of.answers_to(Agent::closing).size(), 1U);
    EXPECT_TRUE(of.agent.is_closed());
}

// The cluster continues to answer until it applies the end of the session.
TEST(SessionAgent, WhatIsAnsweredWhileItClosesIsNobodys) {
    Agent of;
    of.acquire(2, Instant::never());
    of.agent.collect(of.now);
    of.queued(Seq{1});
    of.close();
    of.agent.collect(of.now);
    of.answered(Seq{1}, AnswerKind::granted);
    of.queued(Seq{2});
    of.answered(Seq{2}, AnswerKind::granted);
    EXPECT_TRUE(of.agent.collect(of.now).answers.empty());
    of.session_ends(SessionEnd::closed);
    EXPECT_TRUE(of.agent.is_closed());
}

TEST(SessionAgent, ClosingTakesTheHoldsAway) {
    Agent of;
    const auto held = of.hold();
    of.close();
    const auto output = of.agent.collect(of.now);
    ASSERT_EQ(output.lost.size(), 1U);
    EXPECT_EQ(output.lost.front().hold, held);
    EXPECT_EQ(output.lost.front().reason, HoldLost::Reason::node_stopped);
}

TEST(SessionAgent, AReleaseThatEndsWithTheSessionIsARelease) {
    for (const auto how : {SessionEnd::closed, SessionEnd::expired}) {
        Agent of;
        const CallTag releasing{77};
        of.agent.on_release({releasing, of.hold()}, of.now);
        of.close();
        of.agent.collect(of.now);
        of.session_ends(how);
        const auto answers = of.answers_to(releasing);
        ASSERT_EQ(answers.size(), 1U);
        const bool is_released = !answers.front().has_value();
        EXPECT_EQ(is_released, how == SessionEnd::closed);
    }
}

// The entry that ended the session is in the snapshot.
TEST(SessionAgent, LearnsFromAStateThatItsSessionEnded) {  // P6
    Agent of;
    of.acquire(1, Instant::never());
    of.agent.collect(of.now);
    of.queued(Seq{1});
    of.agent.on_state_replaced(SessionTable{}, of.now);
    EXPECT_EQ(of.answers_to(CallTag{1}), std::vector{std::optional{CallError::session_expired}});
    EXPECT_FALSE(of.agent.open_session());
}

TEST(SessionAgent, LearnsFromAStateThatItIsClosed) {
    Agent of;
    of.close();
    of.agent.collect(of.now);
    of.agent.on_state_replaced(SessionTable{}, of.now);
    EXPECT_TRUE(of.agent.is_closed());
    EXPECT_EQ(of.answers_to(Agent::closing).size(), 1U);
}

TEST(SessionAgent, ClosesAtOnceWithoutASession) {
    Agent of;
    of.session_ends(SessionEnd::expired);
    of.agent.collect(of.now);
    of.close();
    EXPECT_EQ(of.answers_to(Agent::closing).size(), 1U);
    EXPECT_TRUE(of.agent.is_closed());
}

}  // namespace
}  // namespace mortise::core::test
