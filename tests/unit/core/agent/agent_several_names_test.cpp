// Requests for several names, as their node sees them (S20, S32).
#include <gtest/gtest.h>

#include "core/locks/limits.hpp"
#include "tests/support/node_fixture.hpp"
#include "tests/unit/core/agent/agent_by_hand.hpp"

namespace mortise::core::test {
namespace {

using enum Acquire::Which;

constexpr CallTag asks_several{2'000'000};

AcquireCall several(Acquire::Which which, ShortList<NamedMode> names, bool wait = true) {
    AcquireCall call;
    call.tag = asks_several;
    call.request.which = which;
    call.request.names = std::move(names);
    call.request.wait = wait;
    return call;
}

class AgentSeveralNames : public testing::Test {
protected:
    // As the next operation of the session.
    OperationId hold(std::string name) {
        AcquireCall call;
        call.tag = CallTag{++of.tag};
        call.request.names.push_back({std::move(name)});
        of.agent.on_acquire(std::move(call), of.now);
        const auto sent = of.sent();
        of.answered(sent.at(0).seq, AnswerKind::granted);
        of.agent.collect(of.now);
        return {session, sent[0].seq};
    }
    void granted(Seq seq, std::vector<NamedGrant> names) {
        const Answer answer{AnswerKind::granted, {}, {}, std::move(names)};
        of.agent.on_outcome(Answered{{session, seq}, answer}, LogIndex{++of.index}, of.now);
    }

    Agent of;
};

TEST_F(AgentSeveralNames, AreOneOperationAndOneRelease) {
    of.agent.on_acquire(several(all, {{"a"}, {"b"}}), of.now);
    const auto sent = of.sent();
    ASSERT_EQ(sent.size(), 1U);
    granted(Seq{1}, {{"a", FencingToken{5}, {}}, {"b", FencingToken{6}, {}}});
    const auto answers = of.agent.collect(of.now).answers;
    ASSERT_EQ(answers.size(), 1U);
    const auto& acquired = std::get<Acquired>(answers[0].result);
    EXPECT_EQ(acquired.parts.size(), 2U);
    of.agent.on_release({CallTag{2}, acquired.hold}, of.now);
    const auto released = of.sent();
    ASSERT_EQ(released.size(), 1U);
    EXPECT_EQ(std::get<Release>(released[0].body).operation, Seq{1});
    of.answered(released[0].seq, AnswerKind::released);
    EXPECT_EQ(of.agent.outstanding(), 0U);
}

TEST_F(AgentSeveralNames, ARequestForAnyHoldsTheGrantedName) {
    of.agent.on_acquire(several(any, {{"b", LockMode::update}, {"a"}}), of.now);
    of.sent();
    of.queued(Seq{1});
    granted(Seq{1}, {{"b", FencingToken{5}, {}}});
    of.agent.collect(of.now);
    // It is a hold like any other.
    const OperationId held{session, Seq{1}};
    of.agent.on_upgrade({CallTag{2}, held, true, Instant::never()}, of.now);
    EXPECT_EQ(std::get<Upgrade>(of.sent().at(0).body).operation, Seq{1});
    EXPECT_EQ(*of.agent.names_of(held), Names{"b"});
}

TEST_F(AgentSeveralNames, AllOfThemAreNotConverted) {
    of.agent.on_acquire(several(all, {{"a"}, {"b"}}), of.now);
    of.sent();
    granted(Seq{1}, {{"a", FencingToken{5}, {}}, {"b", FencingToken{6}, {}}});
    of.agent.collect(of.now);
    const OperationId held{session, Seq{1}};
    of.agent.on_upgrade({CallTag{2}, held, true, Instant::never()}, of.now);
    EXPECT_EQ(of.answers_to(CallTag{2}), std::vector{std::optional{CallError::invalid_argument}});
    of.agent.on_downgrade({CallTag{3}, held, LockMode::shared}, of.now);
    EXPECT_EQ(of.answers_to(CallTag{3}), std::vector{std::optional{CallError::invalid_argument}});
}

TEST_F(AgentSeveralNames, AreRefusedAsTheClusterSays) {
    for (const auto& [kind, expected] : std::vector<std::pair<AnswerKind, CallError>>{
             {AnswerKind::invalid_argument, CallError::invalid_argument},
             {AnswerKind::kind_mismatch, CallError::kind_mismatch},
             {AnswerKind::resource_exhausted, CallError::resource_exhausted}}) {
        of.agent.on_acquire(several(all, {{"a"}, {"b"}}), of.now);
        of.answered(of.sent().at(0).seq, kind);
        EXPECT_EQ(of.answers_to(asks_several), std::vector{std::optional{expected}});
    }
}

// It was granted before the Cancel, so all of it is released (S18).
TEST_F(AgentSeveralNames, WhatIsGivenUpIsCancelled) {
    auto call = several(all, {{"a"}, {"b"}});
    call.deadline = of.now.steady + 1s;
    of.agent.on_acquire(std::move(call), of.now);
    of.sent();
    of.queued(Seq{1});
    of.pass(1s);
    EXPECT_EQ(of.answers_to(asks_several), std::vector{std::optional{CallError::timed_out}});
    granted(Seq{1}, {{"a", FencingToken{5}, {}}, {"b", FencingToken{6}, {}}});
    EXPECT_TRUE(of.agent.collect(of.now).answers.empty());
    EXPECT_EQ(of.agent.outstanding(), 1U);
    of.answered(Seq{2}, AnswerKind::released);
    EXPECT_EQ(of.agent.outstanding(), 0U);
    of.agent.check_invariants();
}

TEST_F(AgentSeveralNames, AGrantAfterTheLeaseGoesBack) {
    of.agent.on_acquire(several(any, {{"a"}, {"b"}}), of.now);
    of.sent();
    of.queued(Seq{1});
    of.pass(20s);
    granted(Seq{1}, {{"b", FencingToken{5}, {}}});
    EXPECT_EQ(std::get<Release>(of.sent().at(0).body).operation, Seq{1});
    EXPECT_EQ(of.answers_to(asks_several), std::vector{std::optional{CallError::session_expired}});
}

// P11 counts names, because each of them is a place in a queue.
TEST_F(AgentSeveralNames, AreBoundedByTheirNames) {
    of.agent.on_leader(false, of.now);
    ShortList<NamedMode> names;
    for (std::size_t i = 0; i < names_at_once_max; ++i)
        names.push_back({"name " + std::to_string(100 + i)});
    for (std::size_t i = 0; i < operations_max / names_at_once_max; ++i) {
        auto call = several(all, names);
        call.tag = CallTag{1'000 + i};
        of.agent.on_acquire(std::move(call), of.now);
    }
    EXPECT_TRUE(of.agent.collect(of.now).answers.empty());
    EXPECT_EQ(of.acquire(1, Instant::never()), 1U);
    of.agent.on_cancel({CallTag{1'000}}, of.now);
    of.agent.collect(of.now);
    EXPECT_EQ(of.acquire(names_at_once_max, Instant::never()), 0U);
    EXPECT_EQ(of.acquire(1, Instant::never()), 1U);
}

TEST_F(AgentSeveralNames, AreForgottenWithTheSession) {
    hold("b");
    of.agent.on_acquire(several(all, {{"a"}, {"b"}}), of.now);
    of.sent();
    of.agent.on_acquire(
        [] {
            auto call = several(any, {{"c"}, {"d"}});
            call.tag = CallTag{200};
            return call;
        }(),
        of.now);
    of.session_ends(SessionEnd::expired);
    EXPECT_EQ(of.answers_to(asks_several), std::vector{std::optional{CallError::session_expired}});
    EXPECT_EQ(of.agent.outstanding(), 1U);  // it is sent in the next session
    of.agent.check_invariants();
}

// --- with the machine

class NodeSeveralNames : public testing::Test {
protected:
    NodeSeveralNames() { cluster.run_for(5 * election_timeout); }
    OperationId acquire(std::uint64_t tag, std::string name) {
        node.acquire(tag, std::move(name));
        settle();
        return node.granted(tag);
    }
    void ask(AcquireCall call) {
        node.call(std::move(call));
        settle();
    }

    void settle() { cluster.run_for(heartbeat); }

    NodeCluster cluster{1};
    HandDrivenNode& node = cluster[n1];
};

// S20: a busy answer needs no entry, unless a request of this node for one of the names is in
// progress.
TEST_F(NodeSeveralNames, ATryOnNamesThatAreTakenWritesNothing) {
    acquire(1, "a");
    acquire(2, "b");
    const auto index = node.core().applied_index();
    ask(several(any, {{"b"}, {"a"}}, false));
    EXPECT_TRUE(node.was_answered<Busy>(asks_several.raw()));
    EXPECT_EQ(node.core().applied_index(), index);
}

// S31: a busy answer would hide that the name has another policy.
TEST_F(NodeSeveralNames, ATryUnderAnotherPolicyIsNotBusy) {
    acquire(1, "a");
    auto call = several(any, {{"a"}}, false);
    call.request.policy = QueuePolicy::fifo;
    call.request.policy_given = true;
    ask(std::move(call));
    EXPECT_EQ(node.error_of(asks_several.raw()), CallError::kind_mismatch);
    AcquireCall attempt;
    attempt.tag = CallTag{3};
    attempt.request = {{{"a", LockMode::shared}}, false, QueuePolicy::fifo, true, {}, 0};
    node.call(std::move(attempt));
    settle();
    EXPECT_EQ(node.error_of(3), CallError::kind_mismatch);
}

TEST_F(NodeSeveralNames, ATryBehindAReleaseSeesIt) {
    acquire(1, "a");
    const auto b = acquire(2, "b");
    node.call(ReleaseCall{{}, b});
    ask(several(any, {{"a"}, {"b"}}, false));
    ASSERT_TRUE(node.was_answered<Acquired>(asks_several.raw()));
    EXPECT_EQ(std::get<Acquired>(node.answers.back().result).parts.front().name, "b");
}

TEST_F(NodeSeveralNames, ATryTakesTheFirstFreeOneInTheOrderGiven) {
    acquire(1, "c");
    ask(several(any, {{"c"}, {"b"}, {"a"}}, false));
    ASSERT_TRUE(node.was_answered<Acquired>(asks_several.raw()));
    EXPECT_EQ(std::get<Acquired>(node.answers.back().result).parts.front().name, "b");
}

}  // namespace
}  // namespace mortise::core::test
