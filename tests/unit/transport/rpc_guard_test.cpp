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

TEST_F(RpcGuardTest, KnowsHowLongAnOpenCallIs) {
    ok(call(1, 7));
    EXPECT_EQ(guard_.words_of(1), 7U);
    EXPECT_EQ(guard_.words_of(2), 0U);
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

TEST_F(RpcGuardTest, OtherMessagesAreRefusedAndAFarewellIsTheEnd) {
    refused({.kind = Kind::other});
    EXPECT_EQ(guard_.received({.kind = Kind::abort}), RpcVerdict::ended);
    EXPECT_EQ(guard_.received({.kind = Kind::release}), RpcVerdict::ok);
}

}  // namespace
}  // namespace mortise::transport
