// A session that was evicted: its node gives everything back, and opens another one (S24).
#include <gtest/gtest.h>

#include "tests/unit/core/agent/agent_by_hand.hpp"

namespace mortise::core {
namespace {

using namespace test;

class AgentEvictions : public testing::Test {
protected:
    void evict() {
        agent.agent.on_outcome(
            SessionEvicted{{SessionId{8}, Seq{1}}, session, NodeId{1}, "stuck", false, {}},
            LogIndex{++agent.index}, agent.now);
    }
    void expect_taken_away() {
        const auto lost = agent.lost();
        ASSERT_EQ(lost.size(), 1U);
        EXPECT_EQ(lost.front().hold, hold);
        EXPECT_EQ(lost.front().reason, HoldLost::Reason::broken);
        EXPECT_FALSE(agent.agent.has_valid_lease(agent.now));
    }
    // The owner was notified: the cluster learns of the loss, and the session is closed behind it.
    void expect_closed() {
        agent.agent.on_notified(hold);
        const auto sent = agent.send_all();
        ASSERT_EQ(sent.size(), 2U);
        EXPECT_EQ(std::get<Release>(sent.at(0).body), (Release{hold.seq, true}));
        EXPECT_TRUE(std::holds_alternative<CloseSession>(sent.at(1).body));
    }

    Agent agent;
    OperationId hold = agent.hold();
};

TEST_F(AgentEvictions, AreLossesAndThenTheEndOfTheSession) {  // S24, S6
    evict();
    expect_taken_away();
    EXPECT_TRUE(agent.send_all().empty()) << "nobody was notified yet";
    evict();
    EXPECT_TRUE(agent.lost().empty());
    expect_closed();
    EXPECT_TRUE(agent.send_all().empty());
}

TEST_F(AgentEvictions, AreFollowedByAnotherSession) {  // S24
    evict();
    expect_taken_away();
    agent.acquire(1, Instant::never());
    EXPECT_EQ(agent.agent.outstanding(), 2U) << "it waits for the next session";
    expect_closed();
    agent.session_ends(SessionEnd::closed);
    const auto sent = commands_in(agent.agent.collect(agent.now));
    ASSERT_EQ(sent.size(), 1U);
    const auto& opening = std::get<OpenSession>(sent.front());
    agent.agent.on_outcome(SessionOpened{SessionId{9}, opening.nonce}, LogIndex{++agent.index},
                           agent.now);
    const auto asked = agent.sent();
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_EQ(asked.front().session, SessionId{9});
    EXPECT_TRUE(agent.agent.has_valid_lease(agent.now));
    agent.pass(4s);
    EXPECT_TRUE(renewal_in(agent.agent.collect(agent.now)));
}

TEST_F(AgentEvictions, EndTheRenewals) {  // S24
    evict();
    agent.pass(4s);
    EXPECT_FALSE(renewal_in(agent.agent.collect(agent.now)));
}

// The grant was under way when the session was evicted.
TEST_F(AgentEvictions, GrantNothingAnyMore) {  // S24
    agent.acquire(1, Instant::never());
    evict();
    agent.answered(Seq{2}, AnswerKind::granted);
    EXPECT_EQ(agent.answers_to(CallTag{2}), std::vector{std::optional{CallError::session_expired}});
}

// The program learns of neither the grant nor the loss.
TEST_F(AgentEvictions, WithdrawAGrantOfTheSameStep) {  // S24
    agent.acquire(1, Instant::never());
    agent.answered(Seq{2}, AnswerKind::granted);
    evict();
    auto told = agent.agent.collect(agent.now);
    ASSERT_EQ(told.answers.size(), 1U);
    EXPECT_EQ(std::get<CallError>(told.answers.front().result), CallError::session_expired);
    ASSERT_EQ(told.lost.size(), 1U);
    EXPECT_EQ(told.lost.front().hold, hold);
}

TEST_F(AgentEvictions, AreSeenInAStateAsWell) {  // S24
    auto own = Agent::own_session(Seq{1});
    own.renewal_number = last_renewal;
    agent.state_replaced(std::move(own));
    expect_taken_away();
}

// A member tells its clients so (attached_clients.hpp).
TEST_F(AgentEvictions, AreSeenInTheLastRenewal) {  // S24
    agent.agent.on_outcome(SessionRenewed{session, last_renewal, {hold.seq}},
                           LogIndex{++agent.index}, agent.now);
    expect_taken_away();
}

TEST_F(AgentEvictions, ChangeNothingForWhoCloses) {  // S24
    agent.close();
    agent.lost();
    evict();
    EXPECT_TRUE(agent.lost().empty());
    agent.session_ends(SessionEnd::closed);
    EXPECT_TRUE(agent.agent.is_closed());
}

}  // namespace
}  // namespace mortise::core
