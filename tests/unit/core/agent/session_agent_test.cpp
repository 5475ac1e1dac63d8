#include <gtest/gtest.h>

#include "core/locks/limits.hpp"
#include "tests/unit/core/agent/agent_by_hand.hpp"

namespace mortise::core::test {
namespace {

TEST(SessionAgent, TakesSoManyCallsAndNoMore) {
    Agent of;
    EXPECT_EQ(of.acquire(operations_max, Instant::never()), 0U);
    EXPECT_EQ(of.acquire(3, Instant::never()), 3U);
}

// P11: each that was sent leaves a Cancel behind, for as long as nobody confirms it.
TEST(SessionAgent, CountsWhatItHasStillToEnd) {
    Agent of;
    EXPECT_EQ(of.acquire(operations_max / 2, of.now.steady + 1ms), 0U);
    of.send_all();
    of.pass(2ms);
    of.send_all();
    EXPECT_EQ(of.acquire(operations_max / 2, Instant::never()), 0U);
    EXPECT_EQ(of.acquire(1, Instant::never()), 1U);
}

// S1: one session covers all that its node holds, and the reaper takes on all of it at once.
TEST(SessionAgent, HoldsMoreThanItHasUnderWay) {
    Agent of;
    constexpr auto held = operations_max + 100;
    for (std::uint64_t seq = 1; seq <= held; ++seq) {
        ASSERT_EQ(of.acquire(1, Instant::never()), 0U);
        of.answered(Seq{seq}, AnswerKind::granted);
    }
    EXPECT_EQ(of.agent.outstanding(), 0U);
    of.pass(20s);  // the lease is over
    EXPECT_EQ(of.agent.outstanding(), held);
    of.owners_told(held);
    EXPECT_EQ(of.acquire(1, Instant::never()), 1U);
    of.send_all();
    for (std::uint64_t seq = held + 1; seq <= held + operations_max; ++seq)
        of.answered(Seq{seq}, AnswerKind::released);
    EXPECT_EQ(of.agent.outstanding(), 100U);
    of.send_all();
    for (std::uint64_t seq = held + operations_max + 1; seq <= 2 * held; ++seq)
        of.answered(Seq{seq}, AnswerKind::released);
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

// --- however much there is to do, a step takes no more than so much of it (P10)

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

TEST(SessionAgent, ClosingAnswersEveryCallAndEndsTheSession) {
    Agent of;
    of.acquire(2, Instant::never());
    of.close();
    const auto output = of.agent.collect(of.now);
    ASSERT_EQ(output.answers.size(), 2U);
    for (const auto& answer : output.answers)
        EXPECT_EQ(std::get<CallError>(answer.result), CallError::node_stopped);
    const auto batch = decode_batch(output.outbound.value().urgent);
    EXPECT_EQ(std::get<CloseSession>(batch.value().front()).session, session);
    EXPECT_FALSE(of.agent.is_closed());
    of.session_ends(SessionEnd::closed);
    EXPECT_EQ(of.answers_to(Agent::closing).size(), 1U);
    EXPECT_TRUE(of.agent.is_closed());
}

// S20: of two readers' releases the first may get lost, and what follows the second follows both.
TEST(SessionAgent, WhatEndsOnANameFollowsWhatEndedThere) {
    Agent of;
    of.acquire(3, Instant::never());
    for (const auto seq : {1, 2})
        of.answered(Seq(seq), AnswerKind::granted);
    of.agent.on_release({{}, {session, Seq{1}}}, of.now);
    const auto lost = of.sent();
    of.agent.on_release({{}, {session, Seq{2}}}, of.now);
    const auto next = of.sent();
    ASSERT_TRUE(lost.size() == 1 && next.size() == 1);
    EXPECT_FALSE(lost[0].after.is_set()) << "a release follows no acquire (S21)";
    EXPECT_EQ(next[0].after, lost[0].seq);
    of.answered(Seq{3}, AnswerKind::granted);
    EXPECT_FALSE(of.agent.may_answer_from_read("name"));
    of.answered(lost[0].seq, AnswerKind::released);
    EXPECT_FALSE(of.agent.may_answer_from_read("name"));
    of.answered(next[0].seq, AnswerKind::released);
    EXPECT_TRUE(of.agent.may_answer_from_read("name"));
}

// However it comes about that the newer one is applied first.
TEST(SessionAgent, WhatIsUnderWayOnANameIsThereUntilTheLastIsApplied) {  // S20
    Agent of;
    of.acquire(2, Instant::never());
    EXPECT_FALSE(of.agent.may_answer_from_read("name"));
    of.queued(Seq{2});
    EXPECT_FALSE(of.agent.may_answer_from_read("name"));
    of.queued(Seq{1});
    EXPECT_TRUE(of.agent.may_answer_from_read("name"));
    of.agent.check_invariants();
}

// A request that nobody answers, or a leader that is gone, keeps no session alive.
TEST(SessionAgent, AClosingNodeAsksAgain) {
    Agent of;
    const auto asks = [&] {
        const auto outbound = of.agent.collect(of.now).outbound.value_or(Outbound{});
        const auto batch = decode_batch(outbound.urgent).value_or(std::vector<Command>{});
        return std::ranges::any_of(batch, [](const Command& command) {
            const auto* close = std::get_if<CloseSession>(&command);
            return close != nullptr && close->session == session;
        });
    };
    of.close();
    EXPECT_TRUE(asks());
    EXPECT_FALSE(asks());
    of.agent.on_leader(false, of.now);
    of.pass(2s);
    EXPECT_FALSE(asks());
    of.agent.on_leader(true, of.now);
    EXPECT_TRUE(asks());
    EXPECT_FALSE(asks());
    EXPECT_LE(of.agent.deadline(), of.now.steady + Agent::options().resend_after);
    of.pass(Agent::options().resend_after);
    EXPECT_TRUE(asks());
}

// The cluster goes on answering until it gets to the end of the session.
TEST(SessionAgent, WhatIsAnsweredWhileItClosesIsNobodys) {
    Agent of;
    of.acquire(2, Instant::never());
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

// The end of the session is an orderly one, and what was lost before is none of that (S23).
TEST(SessionAgent, ClosingTellsFirstOfWhatWasLost) {
    Agent of;
    constexpr std::uint64_t count = 1'100;  // more than go out at once
    of.acquire(count, Instant::never());
    of.send_all();
    for (std::uint64_t seq = 1; seq <= count; ++seq)
        of.answered(Seq{seq}, AnswerKind::granted);
    of.agent.collect(of.now);
    of.agent.on_leader(false, of.now);
    of.pass(60s);  // the lease is over
    of.owners_told(count);
    of.close();
    of.agent.on_leader(true, of.now);
    std::size_t told = 0;
    const auto goes_out = [&] {
        std::size_t closings = 0;
        const auto outbound = of.agent.collect(of.now).outbound.value_or(Outbound{});
        for (const auto& command : decode_batch(outbound.urgent).value_or(std::vector<Command>{})) {
            if (std::holds_alternative<CloseSession>(command)) ++closings;
            const auto* request = std::get_if<Request>(&command);
            if (request != nullptr && std::get<Release>(request->body).lost) ++told;
        }
        return closings;
    };
    for (int rounds = 0; rounds < 12; ++rounds)
        EXPECT_EQ(goes_out(), 0U);
    EXPECT_EQ(told, count);
    for (std::uint64_t seq = count + 1; seq < 2 * count; ++seq)
        of.answered(Seq{seq}, AnswerKind::released);
    EXPECT_EQ(goes_out(), 0U) << "one of them may come after the end";
    of.answered(Seq{2 * count}, AnswerKind::released);
    EXPECT_EQ(goes_out(), 1U);
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

// The entry that ended it is in the state that took the place of this node's.
TEST(SessionAgent, LearnsFromAStateThatItsSessionEnded) {
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

// --- a leader without room (P11)

TEST(SessionAgent, WhatTheLeaderHasNoRoomForIsRefusedAndCancelled) {
    Agent of;
    of.acquire(3, Instant::never());
    of.queued(Seq{2});
    of.agent.on_too_busy(session, Seq{1}, Seq{2});
    EXPECT_EQ(of.agent.outstanding(), 3U);
    auto output = of.agent.collect(of.now);
    ASSERT_EQ(output.answers.size(), 1U);
    EXPECT_EQ(output.answers[0].tag, CallTag{1});
    EXPECT_EQ(std::get<CallError>(output.answers[0].result), CallError::resource_exhausted);
    // An earlier copy may have been taken by somebody.
    const auto batch = decode_batch(output.outbound.value().urgent);
    const auto& ending = std::get<Request>(batch.value().back());
    EXPECT_EQ(std::get<Cancel>(ending.body).operation, Seq{1});
}

TEST(SessionAgent, ARefusalOfAFormerSessionMeansNothing) {
    Agent of;
    of.acquire(1, Instant::never());
    of.agent.on_too_busy(SessionId{6}, Seq{1}, Seq{9});
    EXPECT_TRUE(of.agent.collect(of.now).answers.empty());
}

}  // namespace
}  // namespace mortise::core::test
