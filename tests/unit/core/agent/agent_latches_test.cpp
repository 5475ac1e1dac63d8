// Requests about latches, as their node sees them (S35).
#include <gtest/gtest.h>

#include "tests/unit/core/agent/agent_by_hand.hpp"

namespace mortise::core::test {
namespace {

constexpr CallTag waiting_call{3'000'000};

class AgentLatches : public testing::Test {
protected:
    Seq wait(Instant deadline = Instant::never()) {
        of.agent.on_await(AwaitCall{waiting_call, AwaitLatch{"ready", 2, {}}, deadline}, of.now);
        return of.sent().at(0).seq;
    }
    Seq count() {
        of.agent.on_write(WriteCall{waiting_call, {}, CountDown{"ready", 2, 1}}, of.now);
        return of.sent().at(0).seq;
    }

    Agent of;
};

TEST_F(AgentLatches, AWaitIsAnsweredAtOnce) {
    of.answered(wait(), AnswerKind::passed);
    EXPECT_TRUE(std::holds_alternative<Passed>(of.answer().result));
    EXPECT_EQ(of.agent.outstanding(), 0U);
    EXPECT_TRUE(of.agent.accounted_for().empty()) << "it holds nothing";
}

TEST_F(AgentLatches, AWaitIsAnsweredLater) {
    const auto seq = wait();
    of.queued(seq);
    EXPECT_TRUE(of.agent.collect(of.now).answers.empty());
    of.answered(seq, AnswerKind::passed);
    EXPECT_TRUE(std::holds_alternative<Passed>(of.answer().result));
    EXPECT_EQ(of.agent.outstanding(), 0U);
}

TEST_F(AgentLatches, AWaitThatIsCancelledIsTakenBack) {  // S18
    const auto seq = wait();
    of.queued(seq);
    of.agent.on_cancel({waiting_call}, of.now);
    const auto told = of.agent.collect(of.now);
    EXPECT_EQ(std::get<CallError>(told.answers.at(0).result), CallError::cancelled);
    EXPECT_EQ(std::get<Cancel>(requests_in(told).at(0).body).operation, seq);
}

// It passed in the meantime: that changes nothing, since it holds nothing.
TEST_F(AgentLatches, ACancelThatComesTooLateReleasesNothing) {
    const auto seq = wait();
    of.queued(seq);
    of.agent.on_cancel({waiting_call}, of.now);
    const auto cancel = of.sent().at(0).seq;
    of.answered(seq, AnswerKind::passed);
    of.answered(cancel, AnswerKind::not_held);
    EXPECT_EQ(of.agent.outstanding(), 0U);
    EXPECT_TRUE(of.sent().empty());
}

TEST_F(AgentLatches, AGrantIsNotTheAnswerToAWait) {
    const auto seq = wait();
    of.answered(seq, AnswerKind::granted);
    const auto told = of.agent.collect(of.now);
    EXPECT_EQ(std::get<CallError>(told.answers.at(0).result), CallError::outcome_unknown);
    EXPECT_EQ(std::get<Release>(requests_in(told).at(0).body).operation, seq);
}

TEST_F(AgentLatches, ACountIsWrittenOrRefused) {
    of.answered(count(), AnswerKind::stored);
    EXPECT_TRUE(std::holds_alternative<Written>(of.answer().result));
    of.answered(count(), AnswerKind::invalid_argument);
    EXPECT_EQ(std::get<CallError>(of.answer().result), CallError::invalid_argument);
    of.answered(count(), AnswerKind::kind_mismatch);
    EXPECT_EQ(std::get<CallError>(of.answer().result), CallError::kind_mismatch);
}

}  // namespace
}  // namespace mortise::core::test
