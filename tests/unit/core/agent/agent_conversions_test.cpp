// Conversions, as the node of the hold sees them (S27, S28): with an agent driven by hand, and with
// a whole node if a race is decided by the cluster.
#include <gtest/gtest.h>

#include "core/locks/limits.hpp"
#include "tests/support/node_fixture.hpp"
#include "tests/unit/core/agent/agent_by_hand.hpp"

namespace mortise::core::test {
namespace {

constexpr CallTag upgrading{2'000'000};
constexpr CallTag downgrading{2'000'001};
constexpr CallTag again{2'000'002};

using Errors = std::vector<std::optional<CallError>>;
const Errors nothing_yet{};
const Errors done{std::nullopt};

Errors error(CallError one) {
    return {one};
}

class AgentConversions : public testing::Test {
protected:
    AgentConversions() {
        AcquireCall call;
        call.tag = CallTag{1};
        call.request.names.push_back({"name", LockMode::update});
        of.agent.on_acquire(std::move(call), of.now);
        of.sent();
        of.answered(Seq{1}, AnswerKind::granted);
        of.answers_to(CallTag{1});
    }
    void upgrade(CallTag tag = upgrading, Instant deadline = Instant::never()) {
        of.agent.on_upgrade({tag, hold, true, deadline}, of.now);
    }
    void downgrade(LockMode mode) { of.agent.on_downgrade({downgrading, hold, mode}, of.now); }
    // The upgrade is sent as operation 2 and given up, and its Cancel is sent as operation 3.
    void give_up_upgrade() {
        upgrade();
        ASSERT_EQ(of.sent().size(), 1U);
        of.agent.on_cancel({upgrading}, of.now);
        const auto sent = of.sent();
        ASSERT_EQ(sent.size(), 1U);
        EXPECT_EQ(std::get<Cancel>(sent[0].body).operation, Seq{2});
        EXPECT_EQ(of.answers_to(upgrading), error(CallError::cancelled));
    }

    Agent of;
    const OperationId hold{session, Seq{1}};
};

TEST_F(AgentConversions, AnUpgradeThatWaitsIsAnsweredWhenItIsGranted) {
    upgrade();
    const auto sent = of.sent();
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(std::get<Upgrade>(sent[0].body), (Upgrade{Seq{1}, true}));
    of.queued(Seq{2});
    EXPECT_EQ(of.answers_to(upgrading), nothing_yet);
    of.answered(Seq{2}, AnswerKind::converted);
    const auto answers = of.agent.collect(of.now).answers;
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(std::get<Converted>(answers[0].result).token, FencingToken{5});
}

TEST_F(AgentConversions, WhatTheClusterAnswersIsPassedOn) {
    const std::vector<std::pair<AnswerKind, CallError>> refusals{
        {AnswerKind::deadlock, CallError::deadlock},
        {AnswerKind::resource_exhausted, CallError::resource_exhausted},  // declined (P11)
        {AnswerKind::invalid_argument, CallError::invalid_argument},
        {AnswerKind::not_held, CallError::lock_lost},
        {AnswerKind::cancelled, CallError::lock_lost}};  // its max_hold has ended (S8)
    std::uint64_t seq = 1;
    for (const auto& [kind, expected] : refusals) {
        upgrade();
        of.sent();
        of.answered(Seq{++seq}, kind);
        EXPECT_EQ(of.answers_to(upgrading), error(expected));
    }
    of.agent.on_upgrade({upgrading, hold, false, Instant::never()}, of.now);
    of.sent();
    of.answered(Seq{++seq}, AnswerKind::busy);
    const auto answers = of.agent.collect(of.now).answers;
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_TRUE(std::holds_alternative<Busy>(answers[0].result));
}

TEST_F(AgentConversions, NeedAHold) {
    const OperationId stranger{session, Seq{9}};
    of.agent.on_upgrade({upgrading, stranger, true, Instant::never()}, of.now);
    EXPECT_EQ(of.answers_to(upgrading), error(CallError::lock_lost));
    of.agent.on_downgrade({downgrading, stranger, LockMode::shared}, of.now);
    EXPECT_EQ(of.answers_to(downgrading), error(CallError::lock_lost));
    of.agent.on_downgrade({downgrading, {SessionId{8}, Seq{1}}, LockMode::shared}, of.now);
    EXPECT_EQ(of.answers_to(downgrading), error(CallError::lock_lost));
}

// S27: a hold has one pending upgrade at a time.
TEST_F(AgentConversions, OneAtATime) {
    upgrade();
    upgrade(again);
    EXPECT_EQ(of.answers_to(again), error(CallError::invalid_argument));
    downgrade(LockMode::shared);
    EXPECT_EQ(of.answers_to(downgrading), error(CallError::invalid_argument));
}

TEST_F(AgentConversions, ADowngradeIsUrgentAndSentUntilItIsDone) {
    downgrade(LockMode::shared);
    auto output = of.agent.collect(of.now);
    const auto request = requests_in(output).at(0);
    EXPECT_EQ(std::get<Downgrade>(request.body), (Downgrade{Seq{1}, LockMode::shared}));
    of.pass(11s);  // the caller's deadline has passed, and the lease has ended
    EXPECT_EQ(of.answers_to(downgrading), error(CallError::no_quorum));
    of.pass(2s);
    const auto sent = of.sent();
    EXPECT_EQ(std::ranges::count(sent, request), 1);
}

TEST_F(AgentConversions, ADowngradeIsAnswered) {
    for (const auto& [kind, expected] : std::vector<std::pair<AnswerKind, Errors>>{
             {AnswerKind::converted, done},
             {AnswerKind::not_held, error(CallError::lock_lost)},
             {AnswerKind::invalid_argument, error(CallError::invalid_argument)}}) {
        downgrade(LockMode::shared);
        const auto sent = of.sent();
        ASSERT_EQ(sent.size(), 1U);
        of.answered(sent[0].seq, kind);
        EXPECT_EQ(of.answers_to(downgrading), expected);
    }
}

// The earlier downgrade was not answered when the upgrade was given up.
TEST_F(AgentConversions, WhatIsGrantedTooLateGoesBackToTheModeItHasByThen) {  // S28
    downgrade(LockMode::shared);
    of.sent();
    upgrade();
    of.sent();
    of.agent.on_cancel({upgrading}, of.now);
    of.sent();
    of.answered(Seq{2}, AnswerKind::converted);
    of.answered(Seq{3}, AnswerKind::converted);
    of.answered(Seq{4}, AnswerKind::not_held);
    const auto sent = of.sent();
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].body, (RequestBody{Downgrade{Seq{1}, LockMode::shared}}));
}

TEST_F(AgentConversions, ADowngradeThatWasRefusedLeavesWhatThereIs) {
    downgrade(LockMode::shared);
    of.sent();
    of.answered(Seq{2}, AnswerKind::invalid_argument);
    upgrade();
    of.sent();
    of.agent.on_cancel({upgrading}, of.now);
    of.sent();
    of.answered(Seq{3}, AnswerKind::converted);
    of.answered(Seq{4}, AnswerKind::not_held);
    EXPECT_EQ(of.sent().at(0).body, (RequestBody{Downgrade{Seq{1}, LockMode::update}}));
}

// The first downgrade had no effect, the second one had: a late grant is undone to the mode of the
// second.
TEST_F(AgentConversions, ADowngradeThatWasRefusedLeavesTheNext) {
    downgrade(LockMode::shared);
    of.agent.on_downgrade({again, hold, LockMode::shared}, of.now);
    of.sent();
    of.answered(Seq{2}, AnswerKind::invalid_argument);
    of.answered(Seq{3}, AnswerKind::converted);
    upgrade();
    of.sent();
    of.agent.on_cancel({upgrading}, of.now);
    of.sent();
    of.answered(Seq{4}, AnswerKind::converted);
    of.answered(Seq{5}, AnswerKind::not_held);
    EXPECT_EQ(of.sent().at(0).body, (RequestBody{Downgrade{Seq{1}, LockMode::shared}}));
}

// The state has the result of the downgrade, and says that the Cancel came too late.
TEST_F(AgentConversions, WhatIsGrantedTooLateGoesBackToWhatItsOwnerAskedFor) {  // S28, P6
    downgrade(LockMode::shared);
    of.sent();
    upgrade();
    of.sent();
    of.agent.on_cancel({upgrading}, of.now);
    of.sent();
    auto own = Agent::own_session(Seq{4});
    own.operations.add(Seq{1}, {{}, {.held = true}});
    own.answers.keep(LogIndex{5}, Seq{2}, {AnswerKind::converted, FencingToken{5}, {}});
    own.answers.keep(LogIndex{6}, Seq{3}, {AnswerKind::converted, FencingToken{6}, {}});
    own.answers.keep(LogIndex{7}, Seq{4}, {AnswerKind::not_held, {}, {}});
    of.state_replaced(std::move(own));
    const auto sent = of.sent();
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].body, (RequestBody{Downgrade{Seq{1}, LockMode::shared}}));
}

// --- abandoned upgrades (S18, S28)

TEST_F(AgentConversions, TimeIsOver) {
    upgrade(upgrading, of.now.steady + 1s);
    of.sent();
    of.queued(Seq{2});
    of.pass(1s);
    EXPECT_EQ(of.answers_to(upgrading), error(CallError::timed_out));
}

TEST_F(AgentConversions, TimeIsOverBeforeTheClusterHasIt) {
    upgrade(upgrading, of.now.steady + 1s);
    of.sent();
    of.pass(1s);
    EXPECT_EQ(of.answers_to(upgrading), error(CallError::no_quorum));
}

TEST_F(AgentConversions, WhatWasCancelledInTimeLeavesNothingToDo) {
    give_up_upgrade();
    of.answered(Seq{2}, AnswerKind::cancelled);
    of.answered(Seq{3}, AnswerKind::cancelled);
    EXPECT_TRUE(of.sent().empty());
    EXPECT_EQ(of.agent.outstanding(), 0U);
}

// Its owner got an answer with the old mode, so the hold returns to it.
// Then requests wait for the hold that did not wait for its former mode (S24).
TEST_F(AgentConversions, WhatWasGrantedAllTheSameConvertsItsHold) {
    upgrade();
    of.sent();
    of.queued(Seq{2});
    of.agent.on_cancel({upgrading}, of.now);
    ASSERT_EQ(of.sent().size(), 1U);  // its Cancel
    EXPECT_EQ(of.agent.converted_by({session, Seq{2}}), hold);
    of.answered(Seq{3}, AnswerKind::cancelled);
    EXPECT_EQ(of.agent.converted_by({session, Seq{2}}), OperationId{});
}

TEST_F(AgentConversions, WhatWasGrantedAllTheSameGoesBack) {  // P6
    give_up_upgrade();
    of.answered(Seq{2}, AnswerKind::converted);
    of.answered(Seq{3}, AnswerKind::not_held);
    const auto sent = of.sent();
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(std::get<Downgrade>(sent[0].body), (Downgrade{Seq{1}, LockMode::update}));
    of.answered(sent[0].seq, AnswerKind::converted);
    EXPECT_EQ(of.agent.outstanding(), 0U);
    EXPECT_TRUE(of.agent.collect(of.now).answers.empty());
}

// Otherwise the cluster would refuse it, because an exclusive hold cannot be upgraded.
TEST_F(AgentConversions, TheNextUpgradeWaitsForTheEndOfTheOneBefore) {
    give_up_upgrade();
    upgrade(again);
    EXPECT_TRUE(of.sent().empty());
    of.acquire(1, Instant::never());
    EXPECT_EQ(of.agent.outstanding(), 3U);
    of.answered(Seq{2}, AnswerKind::converted);
    of.answered(Seq{3}, AnswerKind::not_held);
    auto sent = of.sent();
    ASSERT_EQ(sent.size(), 2U);
    EXPECT_EQ(std::get<Downgrade>(sent[0].body).mode, LockMode::update);
    EXPECT_EQ(std::get<Upgrade>(sent[1].body).operation, Seq{1});
    of.queued(Seq{4});  // other requests are not held back
    of.answered(sent[0].seq, AnswerKind::converted);
    of.answered(sent[1].seq, AnswerKind::converted);
    EXPECT_EQ(of.answers_to(again), done);
}

TEST_F(AgentConversions, TheNextUpgradeMayBeGivenUpWhileItWaitsForThat) {
    give_up_upgrade();
    upgrade(again);
    of.agent.on_cancel({again}, of.now);
    EXPECT_EQ(of.answers_to(again), error(CallError::cancelled));
    of.answered(Seq{2}, AnswerKind::cancelled);
    of.answered(Seq{3}, AnswerKind::cancelled);
    EXPECT_TRUE(of.sent().empty());
    upgrade(again);
    EXPECT_EQ(of.sent().size(), 1U);
}

// --- the hold ends meanwhile

TEST_F(AgentConversions, AReleaseEndsTheUpgrade) {
    upgrade();
    of.sent();
    of.queued(Seq{2});
    const CallTag releasing{2'000'003};
    of.agent.on_release({releasing, hold}, of.now);
    const auto sent = of.sent();
    ASSERT_EQ(sent.size(), 2U);
    EXPECT_EQ(std::get<Cancel>(sent[0].body).operation, Seq{2});
    EXPECT_EQ(std::get<Release>(sent[1].body).operation, Seq{1});
    of.answered(sent[0].seq, AnswerKind::not_held);  // it was granted just before
    of.answered(sent[1].seq, AnswerKind::released);
    EXPECT_TRUE(of.sent().empty());
    const auto answers = std::exchange(of.kept, {});
    ASSERT_EQ(answers.size(), 2U);
    EXPECT_EQ(std::get<CallError>(answers[0].result), CallError::cancelled);
    EXPECT_TRUE(std::holds_alternative<Released>(answers[1].result));
}

TEST_F(AgentConversions, ALapseEndsTheUpgrade) {
    for (const bool is_sent : {true, false}) {
        Agent lapsing;
        const auto held = lapsing.hold();
        lapsing.agent.on_upgrade({upgrading, held, true, Instant::never()}, lapsing.now);
        if (is_sent) lapsing.sent();
        if (is_sent) lapsing.queued(Seq{2});
        lapsing.pass(20s);
        EXPECT_EQ(lapsing.answers_to(upgrading), error(CallError::lock_lost));
        EXPECT_EQ(lapsing.agent.outstanding(), is_sent ? 2U : 1U);
    }
}

TEST_F(AgentConversions, TheEndOfTheSessionEndsBoth) {
    for (const bool is_sent : {true, false}) {
        Agent ending;
        const auto held = ending.hold();
        ending.agent.on_downgrade({downgrading, held, LockMode::shared}, ending.now);
        ending.agent.on_upgrade({upgrading, held, true, Instant::never()}, ending.now);
        if (is_sent) ending.sent();
        ending.session_ends(SessionEnd::expired);
        auto answers = ending.agent.collect(ending.now).answers;
        ASSERT_EQ(answers.size(), 2U);
        for (const auto& answer : answers)
            EXPECT_EQ(std::get<CallError>(answer.result), CallError::lock_lost);
        EXPECT_EQ(ending.agent.outstanding(), 0U);
    }
}

TEST_F(AgentConversions, ClosingEndsTheUpgrade) {
    upgrade();
    of.sent();
    of.close();
    EXPECT_EQ(of.answers_to(upgrading), error(CallError::node_stopped));
    of.agent.on_upgrade({again, hold, true, Instant::never()}, of.now);
    EXPECT_EQ(of.answers_to(again), error(CallError::lock_lost));
}

// --- lost messages

TEST_F(AgentConversions, ANewLeaderIsAskedAgain) {
    upgrade();
    const auto sent = of.sent();
    of.agent.on_leader(false, of.now);
    of.agent.on_leader(true, of.now);
    EXPECT_EQ(of.sent(), sent);
    of.queued(Seq{2});
    of.agent.on_leader(true, of.now);
    EXPECT_TRUE(of.sent().empty());
}

TEST_F(AgentConversions, AreBoundedAsAcquiresAre) {
    of.agent.on_leader(false, of.now);
    of.acquire(operations_max, Instant::never());
    upgrade();
    EXPECT_EQ(of.answers_to(upgrading), error(CallError::resource_exhausted));
    downgrade(LockMode::shared);
    EXPECT_EQ(of.answers_to(downgrading), error(CallError::resource_exhausted));
}

// Otherwise the hold would stay exclusive until its release.
TEST_F(AgentConversions, WhatUndoesAnUpgradeIsNeverRefused) {  // S27, P6
    of.agent.on_leader(false, of.now);
    of.acquire(operations_max - 1, Instant::never());
    upgrade();
    of.agent.on_downgrade({downgrading, hold, LockMode::update, true}, of.now);
    EXPECT_EQ(of.answers_to(downgrading), nothing_yet);
    of.agent.on_leader(true, of.now);
    EXPECT_EQ(of.sent().front().body, (RequestBody{Downgrade{Seq{1}, LockMode::update}}));
}

// --- with the machine

class NodeConversions : public testing::Test {
protected:
    NodeConversions() {
        cluster.run_for(5 * election_timeout);
        hold = acquire(1, LockMode::update);
    }
    OperationId acquire(std::uint64_t tag, LockMode mode) {
        AcquireCall call;
        call.tag = CallTag{tag};
        call.request.names.push_back({"name", mode});
        node.call(std::move(call));
        settle();
        return node.granted(tag);
    }
    [[nodiscard]] LockMode mode() const {
        return node.core().machine().inspect("name").holders.front().mode;
    }

    void settle() { cluster.run_for(heartbeat); }

    NodeCluster cluster{1};
    HandDrivenNode& node = cluster[n1];
    OperationId hold;
};

// The cancel is in transit when the reader releases its hold: the upgrade is granted before it.
TEST_F(NodeConversions, ACancelThatComesTooLateIsMadeUpFor) {  // P6
    const auto reader = acquire(2, LockMode::shared);
    node.call(UpgradeCall{upgrading, hold, true, Instant::never()});
    settle();
    node.call(ReleaseCall{CallTag{3}, reader});
    node.call(CancelCall{upgrading});
    settle();
    EXPECT_EQ(node.error_of(upgrading.raw()), CallError::cancelled);
    EXPECT_EQ(mode(), LockMode::update);
    acquire(4, LockMode::shared);  // is granted again
}

TEST_F(NodeConversions, AnUpgradeBehindOneThatWasGivenUpTooLate) {
    node.call(UpgradeCall{upgrading, hold, true, Instant::never()});
    node.call(CancelCall{upgrading});
    node.call(UpgradeCall{again, hold, true, Instant::never()});
    settle();
    EXPECT_TRUE(node.was_answered<Converted>(again.raw()));
    EXPECT_EQ(mode(), LockMode::exclusive);
    node.call(DowngradeCall{downgrading, hold, LockMode::shared});
    settle();
    EXPECT_TRUE(node.was_answered<Converted>(downgrading.raw()));
    EXPECT_EQ(mode(), LockMode::shared);
}

// S20: the read would say that the name is taken.
TEST_F(NodeConversions, ATryBehindADowngradeSeesIt) {
    node.call(UpgradeCall{upgrading, hold, true, Instant::never()});
    settle();
    node.call(DowngradeCall{downgrading, hold, LockMode::shared});
    AcquireCall attempt;
    attempt.tag = CallTag{5};
    attempt.request.names.push_back({"name", LockMode::shared});
    attempt.request.wait = false;
    node.call(std::move(attempt));
    settle();
    EXPECT_TRUE(node.was_answered<Acquired>(5));
}

}  // namespace
}  // namespace mortise::core::test
