// Holds that survive the end of their lease, and calls that confirm a hold (S6).
#include <gtest/gtest.h>

#include "tests/unit/core/agent/agent_by_hand.hpp"

namespace mortise::core::test {
namespace {

constexpr CallTag confirming{2'000'000};

using Errors = std::vector<std::optional<CallError>>;
const Errors nothing_yet{};
const Errors done{std::nullopt};

Errors error(CallError one) {
    return {one};
}

class AgentSuspending : public testing::Test {
protected:
    AgentSuspending() {
        AcquireCall call;
        call.tag = CallTag{1};
        call.request.names.push_back({"name"});
        call.suspends = true;
        of.agent.on_acquire(std::move(call), of.now);
        of.sent();
        of.answered(Seq{1}, AnswerKind::granted);
        of.answers_to(CallTag{1});
    }
    // The number of the renewal that is sent now.
    std::uint64_t renewal() {
        of.pass(4s);
        return renewal_in(of.agent.collect(of.now)).value().number;
    }
    void renewed(std::uint64_t number) {
        of.agent.on_outcome(SessionRenewed{session, number}, LogIndex{++of.index}, of.now);
    }
    AgentOutput after(Nanoseconds time) {
        of.pass(time);
        return of.agent.collect(of.now);
    }
    void confirm() { of.agent.on_confirm({confirming, hold, of.now.steady + 5s}, of.now); }

    Agent of;
    const OperationId hold{session, Seq{1}};
};

TEST_F(AgentSuspending, ItIsSuspendedWhenItsLeaseRunsOutAndNotGivenBack) {  // S6, P3
    const auto output = after(11s);
    EXPECT_TRUE(output.lost.empty());
    ASSERT_EQ(output.suspended.size(), 1U);
    EXPECT_EQ(output.suspended.front(), hold);
    EXPECT_TRUE(requests_in(output).empty());
    EXPECT_EQ(of.agent.accounted_for(), std::vector{Seq{1}});
}

TEST_F(AgentSuspending, ItIsHeldAgainWhenARenewalGetsThrough) {  // S6
    after(11s);
    const auto number = renewal();
    renewed(number);
    const auto output = of.agent.collect(of.now);
    ASSERT_TRUE(output.lease);
    EXPECT_GT(output.lease->valid_until, of.now.boot);
    EXPECT_TRUE(output.lost.empty());
    // It can be suspended again.
    EXPECT_EQ(after(11s).suspended.size(), 1U);
}

TEST_F(AgentSuspending, ItIsLostWithItsSession) {  // S6
    after(11s);
    of.session_ends(SessionEnd::expired);
    const auto output = of.agent.collect(of.now);
    ASSERT_EQ(output.lost.size(), 1U);
    EXPECT_EQ(output.lost.front().hold, hold);
}

TEST_F(AgentSuspending, ItMayBeGivenBackMeanwhile) {  // S21
    after(11s);
    of.agent.on_release({CallTag{2}, hold}, of.now);
    const auto sent = of.sent();
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(std::get<Release>(sent[0].body).operation, Seq{1});
    EXPECT_TRUE(after(11s).suspended.empty());
}

TEST_F(AgentSuspending, OnlyARenewalThatWasAskedForAfterwardsConfirms) {  // S6, P3
    const auto before = renewal();
    confirm();
    const auto since = renewal_in(of.agent.collect(of.now)).value().number;
    ASSERT_GT(since, before);
    renewed(before);
    EXPECT_EQ(of.answers_to(confirming), nothing_yet);
    renewed(since);
    EXPECT_EQ(of.answers_to(confirming), done);
}

TEST_F(AgentSuspending, ASuspendedHoldIsConfirmedWhenItIsHeldAgain) {  // S6
    after(11s);
    confirm();
    EXPECT_EQ(of.answers_to(confirming), nothing_yet);
    renewed(renewal());
    EXPECT_EQ(of.answers_to(confirming), done);
}

TEST_F(AgentSuspending, AConfirmIsAnsweredInTime) {  // P6
    confirm();
    of.pass(5s);
    EXPECT_EQ(of.answers_to(confirming), error(CallError::no_quorum));
    of.agent.check_invariants();
}

TEST_F(AgentSuspending, WhatIsLostInTheSameStepIsNotConfirmed) {  // S6, S24
    confirm();
    renewed(renewal());
    of.agent.on_outcome(
        LockBroken{{SessionId{9}, Seq{1}}, "name", FencingToken{5}, {hold}, {}, false},
        LogIndex{++of.index}, of.now);
    EXPECT_EQ(of.answers_to(confirming), error(CallError::lock_lost));
}

TEST_F(AgentSuspending, AConfirmOfABrokenHoldIsAnsweredAtOnce) {  // P6, S24
    confirm();
    of.agent.on_outcome(
        LockBroken{{SessionId{9}, Seq{1}}, "name", FencingToken{5}, {hold}, {}, false},
        LogIndex{++of.index}, of.now);
    EXPECT_EQ(of.answers_to(confirming), error(CallError::lock_lost));
}

TEST_F(AgentSuspending, WhatEndsMeanwhileIsNotConfirmed) {  // P6
    confirm();
    of.agent.on_release({{}, hold}, of.now);
    EXPECT_EQ(of.answers_to(confirming), error(CallError::not_held));
    confirm();
    EXPECT_EQ(of.answers_to(confirming), error(CallError::lock_lost));
}

TEST_F(AgentSuspending, WhatIsLostMeanwhileIsNotConfirmed) {  // P6
    confirm();
    of.session_ends(SessionEnd::expired);
    EXPECT_EQ(of.answers_to(confirming), error(CallError::lock_lost));
}

TEST_F(AgentSuspending, NothingIsConfirmedByANodeThatCloses) {  // P6
    confirm();
    of.close();
    EXPECT_EQ(of.answers_to(confirming), error(CallError::node_stopped));
}

}  // namespace
}  // namespace mortise::core::test
