// Arrivals at barriers, as their node sees them (S35).
#include <gtest/gtest.h>

#include "tests/unit/core/agent/agent_by_hand.hpp"

namespace mortise::core::test {
namespace {

constexpr CallTag arriving{3'000'000};

class AgentBarriers : public testing::Test {
protected:
    Seq arrive() {
        of.agent.on_await(AwaitCall{arriving, Arrive{"step", 2}, Instant::never()}, of.now);
        return of.sent().at(0).seq;
    }
    Seq drop() {
        of.agent.on_write(WriteCall{arriving, {}, Arrive{"step", 2, true}}, of.now);
        return of.sent().at(0).seq;
    }

    Agent of;
};

TEST_F(AgentBarriers, AnArrivalPasses) {
    const auto seq = arrive();
    of.queued(seq);
    of.answered(seq, AnswerKind::passed);
    EXPECT_TRUE(std::holds_alternative<Passed>(of.answer().result));
    of.answered(arrive(), AnswerKind::passed);
    EXPECT_TRUE(std::holds_alternative<Passed>(of.answer().result));
    EXPECT_EQ(of.agent.outstanding(), 0U);
}

TEST_F(AgentBarriers, ABrokenBarrierIsAnExpiredSession) {
    const auto seq = arrive();
    of.queued(seq);
    of.answered(seq, AnswerKind::barrier_broken);
    EXPECT_EQ(std::get<CallError>(of.answer().result), CallError::session_expired);
    of.answered(drop(), AnswerKind::barrier_broken);
    EXPECT_EQ(std::get<CallError>(of.answer().result), CallError::session_expired);
}

TEST_F(AgentBarriers, WhoDropsDoesNotWait) {
    of.answered(drop(), AnswerKind::stored);
    EXPECT_TRUE(std::holds_alternative<Written>(of.answer().result));
}

// Whether it waits or not: the others must not go on with a party that does not know it.
TEST_F(AgentBarriers, AnArrivalThatIsGivenUpQuits) {
    const auto seq = arrive();
    of.queued(seq);
    of.agent.on_cancel({arriving}, of.now);
    const auto told = of.agent.collect(of.now);
    EXPECT_EQ(std::get<CallError>(told.answers.at(0).result), CallError::cancelled);
    const auto quit = requests_in(told).at(0);
    EXPECT_EQ(std::get<Quit>(quit.body), (Quit{seq, "step"}));
    of.answered(quit.seq, AnswerKind::cancelled);
    EXPECT_EQ(of.agent.outstanding(), 0U);
}

TEST_F(AgentBarriers, AnArrivalThatIsGivenUpBeforeItsAnswerQuits) {
    const auto seq = arrive();
    of.agent.on_cancel({arriving}, of.now);
    const auto told = of.agent.collect(of.now);
    EXPECT_EQ(std::get<Quit>(requests_in(told).at(0).body), (Quit{seq, "step"}));
}

}  // namespace
}  // namespace mortise::core::test
