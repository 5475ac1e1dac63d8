#include "core/agent/session_agent.hpp"

#include <gtest/gtest.h>

#include "core/locks/limits.hpp"

namespace mortise::core::test {
namespace {

using namespace std::chrono_literals;

constexpr SessionId session{7};

// Its session is open, its leader is known, and whether anything is applied is up to the test.
struct Agent {
    Agent() {
        agent.on_leader(true, now);
        const auto sent = agent.collect(now).outbound;
        const auto batch = decode_batch(sent.value().urgent);
        const auto& opening = std::get<OpenSession>(batch.value().front());
        agent.on_outcome(SessionOpened{session, opening.nonce}, LogIndex{1}, now);
    }

    static AgentOptions options() {
        AgentOptions options;
        options.node = NodeId{1};
        options.incarnation = Incarnation{9};
        options.boot_epoch = BootEpoch{1};
        return options;
    }
    // How many of them were refused at once.
    std::size_t acquire(std::size_t count, Instant deadline) {
        for (std::size_t i = 0; i < count; ++i) {
            AcquireCall call;
            call.tag = CallTag{++tag};
            call.request.name = "name";
            call.deadline = deadline;
            agent.on_acquire(std::move(call), now);
        }
        std::size_t refused = 0;
        for (const auto& answer : agent.collect(now).answers) {
            const auto* error = std::get_if<CallError>(&answer.result);
            if (error != nullptr && *error == CallError::resource_exhausted) ++refused;
        }
        return refused;
    }
    // Until everything that waits was sent once.
    void send_all() {
        while (agent.collect(now).outbound) {
        }
    }
    void pass(Nanoseconds time) {
        now = {now.steady + time, now.boot + time};
        agent.begin(now);
        agent.on_timer(now);
    }

    void queued(Seq seq) { agent.on_outcome(Queued{{session, seq}}, LogIndex{++index}, now); }
    void answered(Seq seq, AnswerKind kind) {
        const Answer answer{kind, FencingToken{5}, {}};
        agent.on_outcome(Answered{{session, seq}, answer}, LogIndex{++index}, now);
    }
    // It has the lock when this returns: operation 1 of its session.
    OperationId hold() {
        acquire(1, Instant::never());
        answered(Seq{1}, AnswerKind::granted);
        agent.collect(now);
        return {session, Seq{1}};
    }
    void close() { agent.on_close(CloseCall{closing}, now); }
    void session_ends(SessionEnd how) {
        agent.on_outcome(SessionEnded{session, how}, LogIndex{++index}, now);
    }
    // What it answered to that tag since the last time; for Closed and Released, no error.
    std::vector<std::optional<CallError>> answers_to(CallTag wanted) {
        std::vector<std::optional<CallError>> answers;
        for (const auto& answer : agent.collect(now).answers) {
            const auto* error = std::get_if<CallError>(&answer.result);
            if (answer.tag == wanted)
                answers.push_back(error ? std::optional{*error} : std::nullopt);
        }
        return answers;
    }

    static constexpr CallTag closing{1'000'000};
    std::uint64_t index = 1;
    Now now{Instant{1'000'000'000}, Instant{1'000'000'000}};
    SessionAgent agent{options(), Prng{1}, now};
    std::uint64_t tag = 0;
};

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

TEST(SessionAgent, ACallThatWasNeverSentLeavesNothingBehind) {
    Agent of;
    of.agent.on_leader(false, of.now);
    EXPECT_EQ(of.acquire(operations_max, of.now.steady + 1ms), 0U);
    of.pass(2ms);
    EXPECT_EQ(of.agent.outstanding(), 0U);
    EXPECT_EQ(of.acquire(operations_max, Instant::never()), 0U);
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
