// What comes after what of that which a node sends (S20, S21), and how it is sent again.
#include <gtest/gtest.h>

#include "tests/unit/core/agent/agent_by_hand.hpp"

namespace mortise::core::test {
namespace {

class AgentOrder : public testing::Test {
protected:
    OperationId hold(const std::vector<std::string>& names) {
        const auto seq = ask(names);
        Answer answer{AnswerKind::granted, FencingToken{5}, {}};
        for (const auto& name : names)
            answer.names.push_back({name, FencingToken{5}, {}});
        of.agent.on_outcome(Answered{{session, seq}, answer}, LogIndex{++of.index}, of.now);
        of.agent.collect(of.now);
        return {session, seq};
    }
    // Not set: it is kept back.
    Seq ask(const std::vector<std::string>& names) {
        if (names.size() == 1) {
            AcquireCall call;
            call.tag = CallTag{++of.tag};
            call.request.name = names.front();
            of.agent.on_acquire(std::move(call), of.now);
        } else {
            AcquireSeveralCall call;
            call.tag = CallTag{++of.tag};
            for (const auto& name : names)
                call.request.names.push_back({name});
            of.agent.on_acquire(std::move(call), of.now);
        }
        last = {};
        auto sent = of.sent();
        of.agent.check_invariants();
        if (!sent.empty()) last = std::move(sent.back());
        return last.seq;
    }
    Request sent_one() {
        auto sent = of.sent();
        of.agent.check_invariants();
        EXPECT_EQ(sent.size(), 1U);
        return sent.empty() ? Request{} : std::move(sent.front());
    }
    Request release(OperationId held) {
        of.agent.on_release({{}, held}, of.now);
        return sent_one();
    }
    Request downgrade(OperationId held) {
        of.agent.on_downgrade({CallTag{++of.tag}, held, LockMode::shared}, of.now);
        return sent_one();
    }
    Request upgrade(OperationId held) {
        of.agent.on_upgrade({CallTag{++of.tag}, held, true, Instant::never()}, of.now);
        return sent_one();
    }

    Agent of;
    Request last;
};

// Each of the three may get lost. Were the downgrade the last of them to come the hold would be
// upgraded and then, without anybody's asking, not be.
TEST_F(AgentOrder, WhatComesAfterADowngradeDoesNotPassIt) {  // P3, S27
    const auto one = hold({"name"});
    const auto other = hold({"name"});
    const auto down = downgrade(one);
    const auto end = release(other);
    EXPECT_EQ(end.after, down.seq);
    EXPECT_EQ(upgrade(one).after, end.seq);
}

// The call may be given up, and then never be taken.
TEST_F(AgentOrder, WhatEndsSomethingWaitsForNoCall) {  // S21
    const auto one = hold({"name"});
    ASSERT_TRUE(ask({"name"}).is_set());
    EXPECT_FALSE(downgrade(one).after.is_set());
    EXPECT_TRUE(release(one).after.is_set());
}

TEST_F(AgentOrder, ACallComesAfterTheCallsBeforeItAndAfterWhatEnded) {  // S20
    const auto one = hold({"name"});
    const auto first = ask({"name"});
    const auto end = release(one);
    EXPECT_FALSE(ask({"name"}).is_set()) << "it has room for one of two";
    EXPECT_TRUE(ask({"other"}).is_set());
    of.queued(first);
    EXPECT_EQ(sent_one().after, end.seq);
}

TEST_F(AgentOrder, WhoeverIsKeptBackMayBeGivenUp) {
    const auto one = hold({"name"});
    const auto first = ask({"name"});
    release(one);
    ASSERT_FALSE(ask({"name"}).is_set());
    of.agent.on_cancel({CallTag{of.tag}}, of.now);
    of.queued(first);
    EXPECT_TRUE(of.sent().empty());
    EXPECT_EQ(of.answers_to(CallTag{of.tag}), std::vector{std::optional{CallError::cancelled}});
}

TEST_F(AgentOrder, WhatEndsOnSeveralNamesBreaksNoChain) {  // S20, S27
    const auto a = hold({"a"});
    const auto other = hold({"a"});
    const auto b = hold({"b"});
    const auto both = hold({"a", "b"});
    const auto first = release(a);
    release(b);
    const auto third = release(both);
    of.answered(third.seq, AnswerKind::released);
    EXPECT_EQ(downgrade(other).after, first.seq);
}

// The last release names one of two that went before it, on two names.
TEST_F(AgentOrder, WhatEndsOnSeveralNamesStandsForOneOfThoseBefore) {  // S20
    const auto a = hold({"a"});
    const auto b = hold({"b"});
    const auto both = hold({"a", "b"});
    const auto first = release(a);
    const auto second = release(b);
    const auto third = release(both);
    EXPECT_EQ(third.after, second.seq);
    EXPECT_FALSE(ask({"a"}).is_set());
    EXPECT_TRUE(ask({"b"}).is_set());
    EXPECT_EQ(last.after, third.seq);
    of.answered(first.seq, AnswerKind::released);
    EXPECT_EQ(sent_one().after, third.seq);
}

TEST_F(AgentOrder, ACallForSeveralNamesComesAfterAllOfIt) {  // S20
    const auto a = hold({"a"});
    const auto both = hold({"b", "a"});
    const auto b = hold({"b"});
    const auto first = release(a);
    const auto second = release(b);
    const auto third = release(both);
    ASSERT_EQ(third.after, second.seq);
    ASSERT_TRUE(ask({"a", "b"}).is_set());
    EXPECT_EQ(last.after, third.seq);
    EXPECT_EQ(std::get<AcquireSeveral>(last.body).also_after, std::vector{first.seq});
}

// The first was lost with what it came after. What comes next has only what is left.
TEST_F(AgentOrder, WhatIsGivenUpLeavesWhatItCameAfter) {  // S20
    const auto end = release(hold({"name"}));
    ASSERT_EQ(last.seq, Seq{1});
    const auto call = ask({"name"});
    ASSERT_EQ(last.after, end.seq);
    of.agent.on_cancel({CallTag{of.tag}}, of.now);
    of.agent.check_invariants();
    const auto cancel = sent_one();
    EXPECT_EQ(std::get<Cancel>(cancel.body).operation, call);
    EXPECT_EQ(cancel.after, end.seq);
    ASSERT_TRUE(ask({"name"}).is_set());
    EXPECT_EQ(last.after, cancel.seq);
}

// --- what is sent again

class AgentResending : public AgentOrder {
protected:
    // Everything that goes out by itself, in this order.
    std::vector<Seq> everything_sent() {
        std::vector<Seq> all;
        while (of.agent.deadline() <= of.now.steady || all.empty()) {
            const auto sent = of.sent();
            if (sent.empty()) break;
            for (const auto& request : sent)
                all.push_back(request.seq);
        }
        return all;
    }
};

// P8, S21: each follows the one before, so of a slice every second nothing would come of the rest.
TEST_F(AgentResending, ANewLeaderGetsAllOfItAtOnce) {
    constexpr std::size_t count = 3'000;
    std::vector<OperationId> holds;
    for (std::size_t i = 0; i < count; ++i)
        holds.push_back(hold({"name"}));
    for (const auto& one : holds)
        of.agent.on_release({{}, one}, of.now);
    const auto lost = everything_sent();
    ASSERT_EQ(lost.size(), count);
    of.agent.on_leader(true, of.now);
    EXPECT_EQ(everything_sent(), lost);
    EXPECT_TRUE(of.sent().empty());
}

// Each of the calls comes after all of the releases: sent ahead of them it would come to nothing.
TEST_F(AgentResending, NoCallIsSentAheadOfWhatEndedBefore) {  // P7
    constexpr std::size_t count = 1'500;
    std::vector<OperationId> holds;
    for (std::size_t i = 0; i < count; ++i)
        holds.push_back(hold({"name"}));
    for (const auto& one : holds)
        of.agent.on_release({{}, one}, of.now);
    everything_sent();
    ASSERT_TRUE(ask({"name"}).is_set());
    ASSERT_TRUE(ask({"name"}).is_set());
    of.agent.on_leader(true, of.now);
    const auto sent = everything_sent();
    EXPECT_EQ(sent.size(), count + 2);
    EXPECT_TRUE(std::ranges::is_sorted(sent));
}

// The cluster has it: nothing begins anew (S48, P9).
TEST_F(AgentResending, AWaitThatIsAttachedToAgainKeepsItsPlace) {
    const auto seq = ask({"name"});
    of.queued(seq);
    of.agent.on_state_replaced(Agent::sessions(), of.now);
    EXPECT_EQ(sent_one().seq, seq);
    of.agent.on_too_busy(session, seq, seq);
    EXPECT_TRUE(of.agent.collect(of.now).answers.empty());
    of.pass(Agent::options().resend_after);
    EXPECT_EQ(sent_one().seq, seq);
}

// Whoever has it all and is slow is not asked for all of it every second.
TEST_F(AgentResending, ALeaderThatIsSlowGetsASlice) {
    for (std::size_t i = 0; i < 1'500; ++i)
        of.agent.on_release({{}, hold({"name"})}, of.now);
    everything_sent();
    of.pass(Agent::options().resend_after);
    const auto again = everything_sent();
    EXPECT_EQ(again.size(), 1'024U);
    of.pass(Agent::options().resend_after);
    EXPECT_EQ(everything_sent(), again);
}

// P10, S21.
TEST_F(AgentResending, CallsThatAreManyAreInTheWayOfNothingThatEnds) {
    const auto one = hold({"held"});
    for (int i = 0; i < 1'100; ++i)
        ASSERT_TRUE(ask({"name " + std::to_string(i)}).is_set());
    const auto end = release(one);
    of.agent.on_leader(true, of.now);
    const auto first = of.sent();
    ASSERT_FALSE(first.empty());
    EXPECT_LE(first.size(), 2 * entry_commands_max);
    EXPECT_EQ(first.front(), end);
    EXPECT_EQ(first.size() + everything_sent().size(), 1'101U);
}

}  // namespace
}  // namespace mortise::core::test
