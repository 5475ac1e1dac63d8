// Cached grants at the agent of their node (S39, S43, S45).
#include <gtest/gtest.h>

#include "tests/unit/core/agent/agent_by_hand.hpp"

namespace mortise::core::test {
namespace {

class AgentCached : public testing::Test {
protected:
    CallTag ask(bool wait, std::uint32_t tokens) {
        AcquireCall call;
        call.tag = CallTag{++of.tag};
        call.request.names = {{"name", LockMode::exclusive}};
        call.request.wait = wait;
        call.request.cached_tokens = tokens;
        call.deadline = Instant::never();
        const auto tag = call.tag;
        of.agent.on_acquire(std::move(call), of.now);
        (void)of.sent();
        return tag;
    }
    void granted(Seq seq, std::uint32_t tokens) {
        Answer answer{AnswerKind::granted, FencingToken{5}, {}};
        answer.cached_tokens = tokens;
        of.agent.on_outcome(Answered{{session, seq}, answer}, LogIndex{++of.index}, of.now);
    }
    std::vector<CallAnswer> answers() { return of.agent.collect(of.now).answers; }

    Agent of;
};

TEST_F(AgentCached, TheProgramLearnsHowManyTokensItGot) {  // S39
    ask(true, 8);
    granted(Seq{1}, 8);
    const auto told = answers();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(std::get<Acquired>(told.front().result).cached_tokens, 8U);
}

TEST_F(AgentCached, MoreTokensThanItAskedForAreNoAnswerToIt) {
    const auto tag = ask(true, 4);
    granted(Seq{1}, 8);
    const auto sent = of.send_all();
    ASSERT_EQ(of.kept.size(), 1U);
    EXPECT_EQ(of.kept.front().tag, tag);
    EXPECT_EQ(std::get<CallError>(of.kept.front().result), CallError::outcome_unknown);
    EXPECT_EQ(std::get<Release>(sent.at(0).body).operation, Seq{1});
}

TEST_F(AgentCached, ATryThatRecallsIsGivenUpInTime) {  // S43
    const auto tag = ask(false, 0);
    of.queued(Seq{1});
    of.pass(Agent::options().recall_timeout - 1ms);
    EXPECT_TRUE(answers().empty());
    of.pass(1ms);
    const auto sent = of.sent();
    ASSERT_EQ(of.kept.size(), 1U);
    EXPECT_EQ(of.kept.front().tag, tag);
    EXPECT_EQ(std::get<Busy>(of.kept.front().result).seen.name, "name");
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(std::get<Cancel>(sent.front().body).operation, Seq{1});  // S18
}

TEST_F(AgentCached, ATryThatRecallsHasNoMoreTimeThanAnother) {  // S48
    ask(false, 0);
    of.pass(AgentOptions{}.call_timeout - 1ms);
    of.queued(Seq{1});
    of.pass(1ms);
    const auto told = answers();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_TRUE(std::holds_alternative<Busy>(told.front().result));
}

TEST_F(AgentCached, ATryThatRecallsMayBeGranted) {  // S43
    ask(false, 0);
    of.queued(Seq{1});
    granted(Seq{1}, 0);
    const auto told = answers();
    ASSERT_EQ(told.size(), 1U);
    EXPECT_TRUE(std::holds_alternative<Acquired>(told.front().result));
    of.pass(Agent::options().recall_timeout);
    EXPECT_TRUE(answers().empty());
}

TEST_F(AgentCached, AUserIsPublishedBeforeItsRelease) {  // S45
    const auto hold = of.hold();
    of.agent.on_publish({{}, hold, FencingToken{7}, {3, "locker"}, "label", true});
    of.agent.on_release({{}, hold}, of.now);
    const auto sent = of.send_all();
    ASSERT_EQ(sent.size(), 2U);
    EXPECT_EQ(std::get<Publish>(sent[0].body),
              (Publish{Seq{1}, FencingToken{7}, {3, "locker"}, "label", true}));
    EXPECT_EQ(std::get<Release>(sent[1].body).operation, Seq{1});
    of.answered(Seq{2}, AnswerKind::stored);
    of.answered(Seq{3}, AnswerKind::released);
    EXPECT_TRUE(of.send_all().empty());
    EXPECT_EQ(of.agent.outstanding(), 0U);
}

TEST_F(AgentCached, NothingIsPublishedOfAHoldThatIsGone) {
    const auto hold = of.hold();
    of.agent.on_release({{}, hold}, of.now);
    (void)of.send_all();
    of.agent.on_publish({{}, hold, FencingToken{7}});
    EXPECT_TRUE(of.send_all().empty());
}

}  // namespace
}  // namespace mortise::core::test
