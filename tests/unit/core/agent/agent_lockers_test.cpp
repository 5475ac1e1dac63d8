// Lockers, as their node sees them (S22, S33).
#include <gtest/gtest.h>

#include "tests/unit/core/agent/agent_by_hand.hpp"

namespace mortise::core::test {
namespace {

constexpr CallTag asking{2'000'000};

class AgentLockers : public testing::Test {
protected:
    Request ask() {
        AcquireCall call;
        call.tag = asking;
        call.request.names.push_back({"a"});
        call.request.locker = {3, "who"};
        of.agent.on_acquire(std::move(call), of.now);
        return of.sent().at(0);
    }
    void refused(Seq seq) {
        const Answer answer{AnswerKind::deadlock, {}, {}, {}, cycle_};
        of.agent.on_outcome(Answered{{session, seq}, answer}, LogIndex{++of.index}, of.now);
    }

    const std::vector<CycleStep> cycle_{{NodeId{1}, session, 3, "who", "a"},
                                        {NodeId{2}, SessionId{8}, 4, {}, "b"}};
    Agent of;
};

TEST_F(AgentLockers, AreToldOfTheCycle) {  // S33
    const auto sent = ask();
    of.queued(sent.seq);
    refused(sent.seq);
    const auto answers = of.agent.collect(of.now).answers;
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].tag, asking);
    EXPECT_EQ(std::get<Deadlocked>(answers[0].result).cycle, cycle_);
}

TEST_F(AgentLockers, ThatGaveUpAreNotToldAnyMore) {  // S18
    const auto sent = ask();
    of.agent.on_cancel({asking}, of.now);
    refused(sent.seq);
    EXPECT_EQ(of.answers_to(asking), (std::vector{std::optional{CallError::cancelled}}));
}

TEST_F(AgentLockers, AreSentWithWhatTheyAskFor) {
    EXPECT_EQ(std::get<Acquire>(ask().body).locker, (LockerTag{3, "who"}));
}

}  // namespace
}  // namespace mortise::core::test
