// The stream of a session's requests, as its node sends it (S17, S20, S21): the number of each
// request, and what is resent after a change of the leader, a loss, or a snapshot.
#include <gtest/gtest.h>

#include "core/locks/limits.hpp"
#include "tests/unit/core/agent/agent_by_hand.hpp"

namespace mortise::core::test {
namespace {

class AgentStream : public testing::Test {
protected:
    CallTag ask(std::string name) {
        AcquireCall call;
        call.tag = CallTag{++of.tag};
        call.request.names.push_back({std::move(name)});
        of.agent.on_acquire(std::move(call), of.now);
        return CallTag{of.tag};
    }
    // As the next request of the session.
    OperationId hold(std::string name) {
        ask(std::move(name));
        const auto sent = of.sent();
        EXPECT_EQ(sent.size(), 1U);
        of.answered(sent.at(0).seq, AnswerKind::granted);
        of.agent.collect(of.now);
        return {session, sent.at(0).seq};
    }
    void release(OperationId held) { of.agent.on_release({{}, held}, of.now); }
    static std::vector<Seq> numbers(const std::vector<Request>& requests) {
        std::vector<Seq> seqs;
        for (const auto& request : requests)
            seqs.push_back(request.seq);
        return seqs;
    }
    static std::vector<Seq> from_to(std::uint64_t first, std::uint64_t last) {
        std::vector<Seq> seqs;
        for (auto at = first; at <= last; ++at)
            seqs.emplace_back(at);
        return seqs;
    }

    Agent of;
};

TEST_F(AgentStream, HasNoGaps) {  // S17, P6
    ask("a");
    ask("b");
    EXPECT_EQ(numbers(of.sent()), from_to(1, 2));
    ask("c");
    EXPECT_EQ(numbers(of.sent()), from_to(3, 3));
}

// S20, S21: if unlock() and try_lock() are called in one step, unlock() goes first.
TEST_F(AgentStream, WhatGivesUpGoesBeforeCallsThatWaitForANumber) {  // P6
    const auto held = hold("a");
    ask("a");
    release(held);
    const auto sent = of.sent();
    ASSERT_EQ(sent.size(), 2U);
    EXPECT_EQ(sent[0].body, (RequestBody{Release{held.seq, false}}));
    EXPECT_TRUE(std::holds_alternative<Acquire>(sent[1].body));
}

TEST_F(AgentStream, SixtyThousandCallsThatWaitDelayNoRelease) {  // S21, P8
    const auto held = hold("held");
    EXPECT_EQ(of.acquire(60'000, Instant::never()), 0U);
    of.send_all();
    release(held);
    const auto sent = of.sent();
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].body, (RequestBody{Release{held.seq, false}}));
}

TEST_F(AgentStream, ACallThatIsCancelledBeforeItHasANumberIsSimplyGone) {
    of.agent.on_leader(false, of.now);
    const auto call = ask("a");
    ask("b");
    of.agent.on_cancel({call}, of.now);
    of.agent.on_leader(true, of.now);
    const auto sent = of.sent();
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(std::get<Acquire>(sent[0].body).names.front().name, "b");
    EXPECT_EQ(sent[0].seq, Seq{1});
}

// Its number has to be used, and the Cancel comes after it.
TEST_F(AgentStream, ACancelIsALaterRequest) {  // S18
    const auto call = ask("a");
    const auto first = of.sent();
    of.agent.on_cancel({call}, of.now);
    const auto sent = of.sent();
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].seq, Seq{2});
    EXPECT_EQ(sent[0].body, (RequestBody{Cancel{Seq{1}}}));
}

// An abandoned write must not take effect at any later time (P6).
TEST_F(AgentStream, WhatWasGivenUpIsSentAgainWithoutEffect) {
    const auto call = ask("a");
    of.sent();
    of.agent.on_cancel({call}, of.now);
    of.sent();
    of.agent.on_leader(true, of.now);
    const auto again = of.sent();
    ASSERT_EQ(again.size(), 2U);
    EXPECT_EQ(again[0].body, RequestBody{Declined{}});
    EXPECT_EQ(again[1].body, (RequestBody{Cancel{Seq{1}}}));
}

// --- go-back-N

TEST_F(AgentStream, ANewLeaderGetsAllThatIsNotApplied) {
    for (const auto* name : {"a", "b", "c"})
        ask(name);
    of.sent();
    of.answered(Seq{1}, AnswerKind::granted);
    of.agent.on_leader(false, of.now);
    of.agent.on_leader(true, of.now);
    EXPECT_EQ(numbers(of.sent()), from_to(2, 3));
}

TEST_F(AgentStream, EachBatchFollowsTheOneBefore) {  // P6
    of.agent.on_leader(false, of.now);
    of.acquire(1'000, Instant::never());
    of.agent.on_leader(true, of.now);
    std::vector<Request> all;
    for (auto output = of.agent.collect(of.now); !output.forwards.empty();
         output = of.agent.collect(of.now)) {
        std::ranges::move(requests_in(output), std::back_inserter(all));
    }
    EXPECT_EQ(numbers(all), from_to(1, 1'000));
}

// Nothing else is sent to the leader meanwhile, because it takes requests only in order.
TEST_F(AgentStream, WhatComesLaterIsSentBehindWhatIsSentAgain) {
    ask("a");
    of.sent();
    of.agent.on_leader(true, of.now);
    ask("b");
    EXPECT_EQ(numbers(of.sent()), from_to(1, 2));
}

// An earlier copy of a resent request may be applied.
TEST_F(AgentStream, WhatIsAppliedMeanwhileIsLeftOut) {
    constexpr std::uint64_t many = 2'000;
    of.acquire(many, Instant::never());
    of.send_all();
    of.agent.on_leader(true, of.now);
    const auto some = of.agent.collect(of.now);
    const auto last = requests_in(some).back().seq;
    ASSERT_LT(last, Seq{many});
    for (auto seq = Seq{1}; seq <= last.next(); seq = seq.next())
        of.queued(seq);
    const auto more = of.agent.collect(of.now);
    EXPECT_EQ(requests_in(more).front().seq, last.next().next());
}

TEST_F(AgentStream, IsSentAgainWhenNothingIsAppliedForAWhile) {
    ask("a");
    of.sent();
    of.pass(Agent::options().resend_after - 1ms);
    EXPECT_TRUE(of.sent().empty());
    of.pass(1ms);
    EXPECT_EQ(numbers(of.sent()), from_to(1, 1));
    EXPECT_TRUE(of.sent().empty());
}

// The reason may be that this node receives nothing while its disk hangs.
TEST_F(AgentStream, IsSentAgainLessAndLessOften) {
    const auto resend_after = Agent::options().resend_after;
    ask("a");
    ask("b");
    of.sent();
    for (const int times : {1, 2, 4}) {
        of.pass(times * resend_after - 1ms);
        EXPECT_TRUE(of.sent().empty());
        of.pass(1ms);
        EXPECT_EQ(numbers(of.sent()), from_to(1, 2));
    }
    of.queued(Seq{1});
    of.pass(resend_after);
    EXPECT_EQ(numbers(of.sent()), from_to(2, 2));
}

// P11: a stream that was stopped by too many unacknowledged answers continues.
TEST_F(AgentStream, WhatWasReceivedIsAcknowledgedAgainWithWhatIsSentAgain) {
    const auto acknowledges = [&] {
        for (const auto& forward : of.agent.collect(of.now).forwards) {
            const auto batch = decode_batch(forward.batch).value();
            for (const auto& command : batch)
                if (std::holds_alternative<Acknowledge>(command)) return true;
        }
        return false;
    };
    hold("a");
    ask("b");
    EXPECT_TRUE(acknowledges());
    ask("c");
    EXPECT_FALSE(acknowledges());
    of.pass(Agent::options().resend_after);
    EXPECT_TRUE(acknowledges());
    EXPECT_FALSE(acknowledges());
    of.agent.on_gap(session, Seq{2});
    EXPECT_TRUE(acknowledges());
    of.agent.on_leader(true, of.now);
    EXPECT_TRUE(acknowledges());
}

TEST_F(AgentStream, IsNotSentAgainWhileItGetsOn) {
    for (std::uint64_t at = 1; at <= 5; ++at) {
        ask("name " + std::to_string(at));
        of.sent();
    }
    for (std::uint64_t at = 1; at <= 4; ++at) {
        of.pass(Agent::options().resend_after / 2);
        of.answered(Seq{at}, AnswerKind::granted);
        EXPECT_TRUE(of.sent().empty());
    }
}

// The leader may only be slow: it is not sent the whole window every second.
TEST_F(AgentStream, ALeaderThatShowsNothingGetsASliceOnly) {
    of.acquire(1'500, Instant::never());
    of.send_all();
    of.pass(Agent::options().resend_after);
    EXPECT_EQ(numbers(of.send_all()), from_to(1, 1'024));
    of.pass(2 * Agent::options().resend_after);
    EXPECT_EQ(numbers(of.send_all()), from_to(1, 1'024));
    of.queued(Seq{1});  // perhaps an old copy
    EXPECT_EQ(numbers(of.send_all()), from_to(1'025, 1'025));
    for (std::uint64_t at = 2; at <= 476; ++at)
        of.queued(Seq{at});
    ask("new");
    EXPECT_EQ(numbers(of.send_all()), from_to(1'026, 1'501));
}

TEST_F(AgentStream, GoesBackToWhatTheLeaderMisses) {
    for (const auto* name : {"a", "b", "c"})
        ask(name);
    of.sent();
    of.agent.on_gap(SessionId{1}, Seq{1});
    of.agent.on_gap(session, Seq{4});
    EXPECT_TRUE(of.sent().empty()) << "that was not meant, or not sent yet";
    of.agent.on_gap(session, Seq{2});
    EXPECT_EQ(numbers(of.sent()), from_to(2, 3));
    of.answered(Seq{1}, AnswerKind::granted);
    of.agent.on_gap(session, Seq{1});
    EXPECT_TRUE(of.sent().empty()) << "it was said before that one was applied";
}

// P8, S21: otherwise a part would be behind a gap, one second after the other.
TEST_F(AgentStream, ANewLeaderGetsAllOfItAtOnce) {
    constexpr std::uint64_t count = 3'000;
    std::vector<OperationId> holds;
    for (std::uint64_t at = 0; at < count; ++at)
        holds.push_back(hold("name"));
    for (const auto& one : holds)
        release(one);
    EXPECT_EQ(numbers(of.send_all()), from_to(count + 1, 2 * count));
    of.agent.on_leader(true, of.now);
    EXPECT_EQ(numbers(of.send_all()), from_to(count + 1, 2 * count));
}

// P10: a step sends a limited number of batches.
TEST_F(AgentStream, AStepSendsAFewBatchesAndIsFollowedAtOnce) {
    of.acquire(2'000, Instant::never());
    of.send_all();
    of.agent.on_leader(true, of.now);
    const auto output = of.agent.collect(of.now);
    EXPECT_LE(output.forwards.size(), 4U);
    for (const auto& forward : output.forwards)
        EXPECT_LE(decode_batch(forward.batch).value().size(), entry_commands_max);
    EXPECT_LE(of.agent.deadline(), of.now.steady);
}

// A repeated answer, or one to no request, changes nothing.
TEST_F(AgentStream, OnlyTheNextOneIsAnswered) {
    const auto a = ask("a");
    const auto b = ask("b");
    of.sent();
    of.answered(Seq{2}, AnswerKind::granted);  // a request that is not applied yet
    of.answered(Seq{9}, AnswerKind::granted);
    EXPECT_TRUE(of.answers_to(b).empty());
    of.answered(Seq{1}, AnswerKind::granted);
    EXPECT_EQ(of.answers_to(a).size(), 1U);
    of.answered(Seq{1}, AnswerKind::granted);
    EXPECT_TRUE(of.answers_to(a).empty());
    of.answered(Seq{2}, AnswerKind::granted);
    EXPECT_EQ(of.answers_to(b).size(), 1U);
}

// --- a leader without capacity (P11)

TEST_F(AgentStream, WhatIsDeclinedIsAnsweredAndTheReleaseBehindItGoesOn) {
    const auto held = hold("held");
    const auto call = ask("a");
    of.sent();
    release(held);
    of.sent();
    of.answered(Seq{2}, AnswerKind::resource_exhausted);
    EXPECT_EQ(of.answers_to(call), std::vector{std::optional{CallError::resource_exhausted}});
    EXPECT_TRUE(of.sent().empty()) << "there is nothing to cancel";
    of.answered(Seq{3}, AnswerKind::released);
    EXPECT_EQ(of.agent.outstanding(), 0U);
}

// --- a snapshot replaces the state (S17)

TEST_F(AgentStream, TheAnswersAreInTheState) {
    const auto a = ask("a");
    const auto b = ask("b");
    const auto c = ask("c");
    const auto d = ask("d");
    of.sent();
    of.queued(Seq{1});
    auto own = Agent::own_session(Seq{3});
    own.answers.keep(LogIndex{7}, Seq{1}, {AnswerKind::granted, FencingToken{8}, {}});
    own.answers.keep(LogIndex{8}, Seq{3}, {AnswerKind::kind_mismatch, {}, {}});
    own.operations.add(Seq{1}, {{}, {.held = true}});
    own.operations.add(Seq{2}, {{}, {}});
    of.state_replaced(std::move(own));
    const auto output = of.agent.collect(of.now);
    ASSERT_EQ(output.answers.size(), 2U);
    EXPECT_EQ(output.answers[0].tag, c);
    EXPECT_EQ(std::get<CallError>(output.answers[0].result), CallError::kind_mismatch);
    EXPECT_EQ(output.answers[1].tag, a);
    EXPECT_EQ(std::get<Acquired>(output.answers[1].result).parts.front().token, FencingToken{8});
    EXPECT_EQ(numbers(requests_in(output)), from_to(4, 4)) << "the rest is sent again";
    of.answered(Seq{2}, AnswerKind::granted);
    of.answered(Seq{4}, AnswerKind::granted);
    const auto answers = of.agent.collect(of.now).answers;
    ASSERT_EQ(answers.size(), 2U) << "the second waits in the cluster's queue";
    EXPECT_EQ(answers[0].tag, b);
    EXPECT_EQ(answers[1].tag, d);
}

// No correct member leaves the state like that.
TEST_F(AgentStream, WhatLeftNothingInTheStateIsUnknown) {
    const auto call = ask("a");
    of.sent();
    of.state_replaced(Agent::own_session(Seq{1}));
    EXPECT_EQ(of.answers_to(call), std::vector{std::optional{CallError::outcome_unknown}});
}

// --- tries that are answered by a read (S20)

TEST_F(AgentStream, ATryIsAnsweredBehindAllThatWasSentBefore) {
    const auto nothing_sent = of.agent.read_behind({"a"});
    ASSERT_TRUE(nothing_sent);
    EXPECT_TRUE(of.agent.is_applied(*nothing_sent));
    ask("b");
    of.sent();
    const auto behind = of.agent.read_behind({"a"});
    ASSERT_TRUE(behind);
    EXPECT_FALSE(of.agent.is_applied(*behind));
    of.queued(Seq{1});
    EXPECT_TRUE(of.agent.is_applied(*behind));
}

TEST_F(AgentStream, ATryBehindWhatHasNoNumberYetGoesThroughTheLog) {
    release(hold("a"));
    EXPECT_FALSE(of.agent.read_behind({"a"}));
    of.sent();
    EXPECT_TRUE(of.agent.read_behind({"a"}));
}

TEST_F(AgentStream, NothingHoldsATryBackThatOutlivesTheSession) {
    ask("b");
    of.sent();
    const auto behind = of.agent.read_behind({"a"});
    of.session_ends(SessionEnd::expired);
    EXPECT_TRUE(of.agent.is_applied(*behind));
    EXPECT_FALSE(of.agent.read_behind({"a"}));
}

// --- the end of the session

TEST_F(AgentStream, TheEndOfTheSessionIsItsLastRequest) {  // S10
    const auto held = hold("a");
    of.acquire(3'000, Instant::never());  // the window is full
    of.send_all();
    release(held);
    of.close();
    const auto sent = of.send_all();
    ASSERT_EQ(sent.size(), 2U);
    EXPECT_EQ(sent[0].body, (RequestBody{Release{held.seq, false}}));
    EXPECT_EQ(sent[1].body, RequestBody{CloseSession{}});
    EXPECT_EQ(sent[1].seq, sent[0].seq.next());
    of.agent.on_leader(true, of.now);
    const auto again = of.send_all();
    EXPECT_EQ(again.size(), 2'048U + 2);
    EXPECT_EQ(again.back(), sent[1]);
}

TEST_F(AgentStream, BeginsAnewWithTheNextSession) {
    ask("a");
    of.sent();
    of.session_ends(SessionEnd::expired);
    ask("b");
    const auto opening = commands_in(of.agent.collect(of.now));
    ASSERT_EQ(opening.size(), 1U);
    const auto nonce = std::get<OpenSession>(opening[0]).nonce;
    of.agent.on_outcome(SessionOpened{SessionId{8}, nonce}, LogIndex{++of.index}, of.now);
    const auto sent = of.sent();
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].session, SessionId{8});
    EXPECT_EQ(sent[0].seq, Seq{1});
}

}  // namespace
}  // namespace mortise::core::test
