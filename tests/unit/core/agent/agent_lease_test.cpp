// The actions of a session agent when its lease ends, and what it must not claim.
#include <algorithm>

#include <gtest/gtest.h>

#include "core/leases/lease_times.hpp"
#include "tests/unit/core/agent/agent_by_hand.hpp"

namespace mortise::core::test {
namespace {

bool acknowledges(const AgentOutput& output) {
    return std::ranges::any_of(commands_in(output), [](const Command& command) {
        return std::holds_alternative<Acknowledge>(command);
    });
}

// Whether the output has a Release of that operation.
bool gives_back(const AgentOutput& output, Seq target) {
    return std::ranges::any_of(requests_in(output), [&](const Request& request) {
        const auto* release = std::get_if<Release>(&request.body);
        return release != nullptr && release->operation == target;
    });
}

// S3: however often the session was requested, and however late the answer is.
TEST(AgentLease, BeginsWhenTheSessionWasFirstRequested) {
    const auto options = Agent::options();
    const Now asked{Instant{1'000'000'000}, Instant{5'000'000'000}};
    SessionAgent agent{options, Prng{1}, asked};
    agent.on_leader(true, asked);
    const auto nonce = std::get<OpenSession>(commands_in(agent.collect(asked)).front()).nonce;
    const Now later{asked.steady + Nanoseconds{3s}, asked.boot + Nanoseconds{3s}};
    agent.begin(later);
    agent.on_timer(later);
    EXPECT_FALSE(agent.collect(later).forwards.empty()) << "it asks again";
    agent.on_outcome(SessionOpened{session, nonce}, LogIndex{1}, later);
    const auto lease = agent.collect(later).lease.value();
    EXPECT_EQ(lease.valid_until, asked.boot + holder_trust(options.ttl_ms, options.rho_ppm));
}

// Opening a session frees the names of a former run of its node: an earlier read comes too early.
TEST(AgentSession, NoTryIsAnsweredFromAReadBeforeThereIsOne) {  // S10, S20
    const Now now{Instant{1'000'000'000}, Instant{1'000'000'000}};
    const SessionAgent opening{Agent::options(), Prng{1}, now};
    EXPECT_FALSE(opening.read_behind({"name"}));
    const Agent open;
    EXPECT_TRUE(open.agent.read_behind({"name"}));
}

// If a slow cluster could delay the next renewal, the lease would end before the renewal arrives
// (S2).
TEST(AgentLease, IsRenewedAThirdOfItAfterItWasAskedForLast) {
    Agent of;
    of.agent.collect(of.now);
    const auto third = Nanoseconds{std::chrono::milliseconds{Agent::options().ttl_ms}} / 3;
    of.pass(third);
    const auto first = renewal_in(of.agent.collect(of.now));
    ASSERT_TRUE(first);
    const auto late = Agent::options().resend_after / 2;
    of.pass(late);
    of.agent.on_outcome(SessionRenewed{session, first->number, {}}, LogIndex{5}, of.now);
    EXPECT_FALSE(renewal_in(of.agent.collect(of.now)));
    of.pass(third - late - 1ms);
    EXPECT_FALSE(renewal_in(of.agent.collect(of.now)));
    of.pass(1ms);
    EXPECT_TRUE(renewal_in(of.agent.collect(of.now)));
}

// Renewals in flight are not repeated with each answer.
TEST(AgentLease, IsRenewedAtItsPaceWhenAnswersTakeLongerThanThat) {
    Agent of;
    of.agent.collect(of.now);
    const auto third = Nanoseconds{std::chrono::milliseconds{Agent::options().ttl_ms}} / 3;
    of.pass(third);
    const auto first = renewal_in(of.agent.collect(of.now));
    ASSERT_TRUE(first);
    int asked = 0;
    for (Nanoseconds passed{}; passed <= third; passed += 500ms) {
        of.pass(500ms);
        asked += renewal_in(of.agent.collect(of.now)) ? 1 : 0;
    }
    of.agent.on_outcome(SessionRenewed{session, first->number, {}}, LogIndex{5}, of.now);
    EXPECT_FALSE(renewal_in(of.agent.collect(of.now)));
    EXPECT_EQ(asked, 3);
    of.pass(Agent::options().resend_after);
    EXPECT_TRUE(renewal_in(of.agent.collect(of.now)));
}

// S6
TEST(AgentLease, WhatIsLostWithItIsGivenBack) {
    Agent of;
    const auto held = of.hold();
    of.pass(11s);
    const auto output = of.agent.collect(of.now);
    ASSERT_EQ(output.lost.size(), 1U);
    EXPECT_EQ(output.lost.front().hold, held);
    of.agent.on_notified(held);
    EXPECT_TRUE(gives_back(of.agent.collect(of.now), held.seq));
}

// S18: no owner may get a grant that was made when the lease had ended.
TEST(AgentLease, WhatIsGrantedAfterItsEndIsGivenBack) {
    Agent of;
    of.acquire(1, Instant::never());
    of.queued(Seq{1});
    of.pass(11s);
    of.agent.collect(of.now);
    of.answered(Seq{1}, AnswerKind::granted);
    const auto output = of.agent.collect(of.now);
    ASSERT_EQ(output.answers.size(), 1U);
    EXPECT_EQ(std::get<CallError>(output.answers.front().result), CallError::session_expired);
    EXPECT_TRUE(gives_back(output, Seq{1}));
}

// Losses are reported before answers: a program that gets the loss first would rely on the grant
// (P3).
TEST(AgentLease, WhatIsGrantedInTheStepThatEndsTheSessionWasNeverHad) {
    Agent of;
    const auto held = of.hold();
    of.acquire(1, Instant::never());
    of.answered(Seq{2}, AnswerKind::granted);
    of.session_ends(SessionEnd::expired);
    const auto output = of.agent.collect(of.now);
    ASSERT_EQ(output.lost.size(), 1U);
    EXPECT_EQ(output.lost.front().hold, held);
    EXPECT_EQ(output.withdrawn, (std::vector{OperationId{session, Seq{2}}}));
    ASSERT_EQ(output.answers.size(), 1U);
    EXPECT_EQ(std::get<CallError>(output.answers.front().result), CallError::session_expired);
}

// It would keep grants alive that it can never learn of.
TEST(AgentLease, IsNotProlongedForEverByWhoLearnsOfNothing) {
    Agent of;
    of.pass(11s);
    std::size_t renewals = 0;
    const auto count = [&](std::size_t seconds) {
        for (; seconds > 0; --seconds) {
            of.pass(1s);
            const auto output = of.agent.collect(of.now);
            if (renewal_in(output)) ++renewals;
        }
    };
    count(100);
    EXPECT_LE(renewals, 16U);
    of.agent.on_progress(of.now);
    const auto before = renewals;
    count(5);
    EXPECT_GT(renewals, before) << "it hears again";
}

TEST(AgentAcknowledgement, IsOfAllAnswersUpToAnIndex) {
    Agent of;
    of.hold();
    of.acquire(1, Instant::never());
    of.answered(Seq{2}, AnswerKind::granted);
    of.agent.on_release({{}, {session, Seq{1}}}, of.now);
    EXPECT_TRUE(acknowledges(of.agent.collect(of.now)));
}

// S17: answers that were given before a snapshot are in that snapshot.
TEST(AgentAcknowledgement, IsOfWhatAStateSaysAsWell) {
    Agent of;
    of.acquire(1, Instant::never());
    auto own = Agent::own_session(Seq{1});
    own.answers.keep(LogIndex{17}, Seq{1}, {AnswerKind::granted, FencingToken{5}, {}});
    own.operations.add(Seq{1}, {{}, {.held = true}});
    of.state_replaced(std::move(own));
    of.agent.on_release({{}, {session, Seq{1}}}, of.now);
    const auto sent = commands_in(of.agent.collect(of.now));
    const auto told = std::ranges::find_if(
        sent, [](const auto& one) { return std::holds_alternative<Acknowledge>(one); });
    ASSERT_NE(told, sent.end());
    EXPECT_EQ(std::get<Acknowledge>(*told).received, LogIndex{17});
}

}  // namespace
}  // namespace mortise::core::test
