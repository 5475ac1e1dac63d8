// Holds with a max_hold (S8): their node ends them by its own clock, and informs the cluster when
// it may begin to count.
#include <gtest/gtest.h>

#include "tests/unit/core/agent/agent_by_hand.hpp"

namespace mortise::core {
namespace {

using namespace test;

class AgentHolds : public testing::Test {
protected:
    void SetUp() override {
        AcquireCall call;
        call.tag = CallTag{1};
        call.request.names.push_back({"name"});
        call.request.terms.max_hold_ms = 1'000;
        agent.agent.on_acquire(std::move(call), agent.now);
        agent.send_all();
        agent.answered(Seq{1}, AnswerKind::granted);
        const auto answers = agent.agent.collect(agent.now).answers;
        ASSERT_EQ(answers.size(), 1U);
        acquired = std::get<Acquired>(answers.front().result);
    }
    // The Acknowledge that is sent with a renewal now.
    std::optional<LogIndex> told() {
        agent.agent.on_leader(true, agent.now);
        const auto output = agent.agent.collect(agent.now);
        EXPECT_TRUE(renewal_in(output).has_value());
        for (const auto& command : commands_in(output)) {
            if (const auto* one = std::get_if<Acknowledge>(&command)) return one->received;
        }
        return std::nullopt;
    }

    Agent agent;
    Acquired acquired;
};

TEST_F(AgentHolds, AreLostWhenTheirTimeIsOver) {  // S8
    EXPECT_EQ(acquired.ends, agent.now.boot + 1s);
    EXPECT_LE(agent.agent.deadline(), agent.now.steady + 1s);
    agent.pass(999ms);
    EXPECT_TRUE(agent.agent.collect(agent.now).lost.empty());
    agent.pass(1ms);
    const auto output = agent.agent.collect(agent.now);
    ASSERT_EQ(output.lost.size(), 1U);
    EXPECT_EQ(output.lost.front().hold, acquired.hold);
    EXPECT_EQ(output.lost.front().reason, HoldLost::Reason::over);
    agent.agent.on_notified(acquired.hold);
    const auto requests = agent.sent();
    ASSERT_EQ(requests.size(), 1U);
    EXPECT_EQ(requests.front().body, (RequestBody{Release{Seq{1}, true}}));
}

// On the clock that counts suspend, because the cluster's clocks continue meanwhile (S5).
TEST_F(AgentHolds, AreLostAfterASuspend) {
    agent.now.boot = agent.now.boot + 1s;
    agent.agent.begin(agent.now);
    EXPECT_EQ(agent.agent.collect(agent.now).lost.size(), 1U);
}

TEST_F(AgentHolds, ThatWereGivenBackAreNotLost) {
    agent.agent.on_release({{}, acquired.hold}, agent.now);
    agent.pass(2s);
    EXPECT_TRUE(agent.agent.collect(agent.now).lost.empty());
}

TEST_F(AgentHolds, AreToldOfWithEveryRenewalUntilTheyAreCounted) {  // S8
    EXPECT_EQ(told(), LogIndex{agent.index});
    EXPECT_EQ(told(), LogIndex{agent.index});  // the first one may be lost
    ClosureBegun begun;
    begun.closure = ClosureId{2};
    begun.kind = Closure::Kind::max_hold;
    begun.hold = acquired.hold;
    agent.agent.on_outcome(begun, LogIndex{++agent.index}, agent.now);
    EXPECT_EQ(told(), std::nullopt);
}

}  // namespace
}  // namespace mortise::core
