// What the guard keeps of a connection is bounded (P11).
#include "transport/rpc/rpc_guard.hpp"

#include <gtest/gtest.h>

namespace mortise::transport {
namespace {

using Kind = RpcFrame::Kind;

RpcFrame bootstrap(std::uint32_t question) {
    return {.kind = Kind::bootstrap, .question = question};
}
RpcFrame call(std::uint32_t question, std::size_t words = 10) {
    return {.kind = Kind::call, .question = question, .words = words};
}
RpcFrame call_of(std::uint32_t question, std::uint32_t of, std::size_t path) {
    return {.kind = Kind::call, .question = question, .is_of_answer = true, .of = of, .path = path};
}
RpcFrame hello(std::uint32_t question) {
    return {.kind = Kind::call, .question = question, .is_hello = true};
}
RpcFrame answer(std::uint32_t question) {
    return {.kind = Kind::answer, .question = question};
}
RpcFrame finish(std::uint32_t question) {
    return {.kind = Kind::finish, .question = question};
}

RpcFrame send(std::uint32_t question, std::uint32_t capability) {
    return {.kind = Kind::call, .question = question, .capability = capability, .is_send = true};
}
RpcFrame offer(std::uint32_t question, std::uint32_t capability) {
    return {.kind = Kind::answer,
            .question = question,
            .capabilities = 1,
            .has_results = true,
            .capability = capability};
}

class RpcGuardTest : public testing::Test {
protected:
    void ok(const RpcFrame& frame) {
        EXPECT_EQ(guard_.received(frame), RpcVerdict::ok) << guard_.cause();
    }
    void refused(const RpcFrame& frame) { EXPECT_EQ(guard_.received(frame), RpcVerdict::refused); }

    RpcGuard guard_{{.questions_max = 3, .words_max = 100}};
};

TEST_F(RpcGuardTest, AQuestionIsOpenUntilItIsBothAnsweredAndFinished) {
    for (const auto question : {1U, 2U, 3U})
        ok(call(question));
    refused(call(4));
    ok(finish(1));
    refused(call(4));
    guard_.sent(answer(1));
    ok(call(4));
    guard_.sent(answer(2));
    refused(call(5));
    ok(finish(2));
    ok(call(5));
    EXPECT_EQ(guard_.open(), 3U);
}

TEST_F(RpcGuardTest, TheAskerWaitsUntilAllIsAnswered) {
    EXPECT_FALSE(guard_.is_awaited());
    ok(call(1));
    ok(call(2));
    guard_.sent(answer(1));
    EXPECT_TRUE(guard_.is_awaited());
    guard_.sent(answer(2));
    EXPECT_FALSE(guard_.is_awaited());
}

TEST_F(RpcGuardTest, OpenQuestionsAreBoundedByTheirBytes) {
    ok(call(1, 60));
    refused(call(2, 41));
    ok(call(2, 40));
    refused(call(3, 1));
    guard_.sent(answer(1));
    ok(finish(1));
    ok(call(3, 60));
    refused(call(4, SIZE_MAX));
}

TEST_F(RpcGuardTest, ANumberIsUsedAgainOnlyWhenItsQuestionIsOver) {
    ok(call(1));
    refused(call(1));
    guard_.sent(answer(1));
    refused(bootstrap(1));
    ok(finish(1));
    ok(bootstrap(1));
}

TEST_F(RpcGuardTest, WhatIsNotOpenCannotEnd) {
    refused(finish(1));
    ok(call(1));
    ok(finish(1));
    refused(finish(1));
}

TEST_F(RpcGuardTest, NobodyAsksForEverWhatIsOffered) {
    for (std::uint32_t question = 0; question < 4; ++question) {
        ok(bootstrap(question));
        guard_.sent(answer(question));
        ok(finish(question));
    }
    refused(bootstrap(4));
}

TEST_F(RpcGuardTest, CallsWaitForWhatHelloOffersAndForNothingElse) {
    ok(bootstrap(0));
    auto first = call_of(1, 0, 0);
    first.is_hello = true;
    ok(first);
    ok(call_of(2, 1, 2));
    guard_.sent(answer(0));
    ok(finish(0));
    refused(call_of(3, 2, 0));  // the answer to a call that offers nothing
    refused(call_of(3, 0, 0));  // the answer to a question that is over
    refused(call_of(3, 9, 0));
    refused(call_of(3, 1, 3));
    auto other_path = call_of(3, 1, 2);
    other_path.is_first_path = false;
    refused(other_path);
    ok(call_of(3, 1, 2));
}

// The answer may still come, and would not be kept.
TEST_F(RpcGuardTest, NoCallWaitsForAnAnswerThatItsCallerHasGivenUp) {
    ok(hello(1));
    ok(call_of(2, 1, 2));
    ok(finish(1));
    refused(call_of(3, 1, 2));
}

TEST_F(RpcGuardTest, NoCallBringsCapabilitiesOrSendsResultsElsewhere) {
    auto one = call(1);
    one.capabilities = 1;
    refused(one);
    auto other = call(1);
    other.is_plain = false;
    refused(other);
}

TEST_F(RpcGuardTest, BeforeHelloThereIsNothingButHello) {
    guard_.set_rules({.questions_max = 3, .only_hello = true});
    ok(bootstrap(0));
    refused(call(1));
    ok(hello(1));
    guard_.set_rules({.questions_max = 3});
    ok(call(2));
}

TEST_F(RpcGuardTest, AnswersAreToQuestionsThatWereWritten) {
    refused(answer(1));
    guard_.sent(call(1));
    ok(answer(1));
    refused(answer(1));
    guard_.sent(call(2));
    auto many = answer(2);
    many.capabilities = 2;
    refused(many);
}

TEST_F(RpcGuardTest, ASideThatOnlyAsksIsNotAskedBack) {
    guard_.set_rules({});
    refused(bootstrap(0));
    refused(hello(0));
    refused(call(0));
    EXPECT_STREQ(guard_.cause(), "a question to a node that only asks");
}

// --- calls of Peer.send ---

class RpcGuardOfAPeer : public RpcGuardTest {
protected:
    static constexpr std::uint32_t offered = 7;

    // The peer has said hello, and is answered with that capability.
    void SetUp() override {
        guard_.set_rules({.questions_max = 3, .is_peer = true});
        ok(hello(1));
        guard_.sent(offer(1, offered));
        ok(finish(1));
    }
    void direct(const RpcFrame& frame) {
        EXPECT_EQ(guard_.received(frame), RpcVerdict::direct) << guard_.cause();
    }
};

TEST_F(RpcGuardOfAPeer, CallsThatDoNotReachCapnProto) {
    direct(send(2, offered));
    direct(send(3, offered));
    guard_.sent(answer(2));
    direct(finish(2));
    direct(finish(3));  // before its answer
    guard_.sent(answer(3));
    EXPECT_EQ(guard_.open(), 0U);
}

TEST_F(RpcGuardOfAPeer, CallsOfAnythingElseAreForCapnProto) {
    ok(send(2, offered + 1));
    auto other_method = send(3, offered);
    other_method.is_send = false;
    ok(other_method);
    guard_.sent(answer(2));
    ok(finish(2));
    ok(hello(4));
    auto of_an_answer = send(5, offered);
    of_an_answer.capability.reset();
    of_an_answer.is_of_answer = true;
    of_an_answer.of = 4;
    guard_.sent(answer(3));
    ok(finish(3));
    ok(of_an_answer);
}

// The bounds of all questions hold for these.
TEST_F(RpcGuardOfAPeer, IsBoundedAsEverybody) {
    for (const auto question : {2U, 3U, 4U})
        direct(send(question, offered));
    refused(send(5, offered));
    guard_.sent(answer(2));
    refused(send(2, offered));  // not finished
    direct(finish(2));
    refused(finish(2));
    refused(send(3, offered));  // open
    refused(finish(9));
    auto with_a_capability = send(2, offered);
    with_a_capability.capabilities = 1;
    refused(with_a_capability);
    direct(send(2, offered));
}

TEST_F(RpcGuardOfAPeer, CallsNothingThatItHasReleased) {
    EXPECT_EQ(guard_.received({.kind = Kind::release, .capability = offered + 1}), RpcVerdict::ok);
    direct(send(2, offered));
    EXPECT_EQ(guard_.received({.kind = Kind::release, .capability = offered}), RpcVerdict::ok);
    ok(send(3, offered));
}

// A second hello is refused, and offers nothing.
TEST_F(RpcGuardOfAPeer, KeepsWhatItsHelloHasOffered) {
    ok(hello(2));
    guard_.sent(answer(2));
    direct(send(3, offered));
}

TEST_F(RpcGuardTest, ACallerThatIsNoPeerCallsThroughCapnProto) {
    ok(send(1, 0));
    ok(hello(2));
    guard_.sent(offer(2, 7));
    ok(send(3, 7));
}

TEST_F(RpcGuardTest, AnswersToOurOwnSendsDoNotReachCapnProto) {
    guard_.sent(call(send_questions_from));
    guard_.sent(call(send_questions_from - 1));
    refused(answer(send_questions_from + 1));
    EXPECT_EQ(guard_.received(answer(send_questions_from)), RpcVerdict::direct);
    refused(answer(send_questions_from));
    ok(answer(send_questions_from - 1));
}

TEST_F(RpcGuardTest, KnowsWhatTheAnswerToOurHelloOffers) {
    guard_.sent(bootstrap(0));
    ok(offer(0, 3));
    EXPECT_FALSE(guard_.offer());
    guard_.sent(hello(1));
    ok(offer(1, 5));
    EXPECT_EQ(guard_.offer(), 5U);
    guard_.sent(call(1));  // the number is used again
    ok(offer(1, 6));
    EXPECT_EQ(guard_.received({.kind = Kind::release, .capability = 5}), RpcVerdict::ok);
    EXPECT_EQ(guard_.offer(), 5U);
}

TEST_F(RpcGuardTest, OtherMessagesAreRefusedAndAFarewellIsTheEnd) {
    refused({.kind = Kind::other});
    EXPECT_EQ(guard_.received({.kind = Kind::abort}), RpcVerdict::ended);
    EXPECT_EQ(guard_.received({.kind = Kind::release}), RpcVerdict::ok);
}

}  // namespace
}  // namespace mortise::transport
