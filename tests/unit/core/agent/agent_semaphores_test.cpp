// Requests about semaphores, as their node sees them (S15, S34, S37).
#include <gtest/gtest.h>

#include "tests/unit/core/agent/agent_by_hand.hpp"

namespace mortise::core::test {
namespace {

constexpr CallTag calling{3'000'000};

class AgentSemaphores : public testing::Test {
protected:
    Seq ask_for(std::uint32_t permits) {
        AcquireCall call;
        call.tag = calling;
        call.request.names.push_back({"pool"});
        call.request.permits = permits;
        call.request.limit = 3;
        of.agent.on_acquire(std::move(call), of.now);
        return of.sent().at(0).seq;
    }
    Seq write(RequestBody body) {
        of.agent.on_write(WriteCall{calling, {}, std::move(body)}, of.now);
        return of.sent().at(0).seq;
    }
    void granted(Seq seq, Slots slots) {
        const Answer answer{
            AnswerKind::granted, {}, {}, {{"pool", FencingToken{5}, {}, std::move(slots)}}};
        of.agent.on_outcome(Answered{{session, seq}, answer}, LogIndex{++of.index}, of.now);
    }

    Agent of;
};

TEST_F(AgentSemaphores, AHoldHasItsSlots) {  // S15
    granted(ask_for(2), {0, 2});
    const auto told = of.answer();
    const auto& acquired = std::get<Acquired>(told.result);
    ASSERT_EQ(acquired.parts.size(), 1U);
    EXPECT_EQ(acquired.parts.front().name, "pool");
    EXPECT_EQ(acquired.parts.front().token, FencingToken{5});
    EXPECT_EQ(acquired.parts.front().slots, (Slots{0, 2}));
    of.agent.on_release({CallTag{2}, acquired.hold}, of.now);
    EXPECT_EQ(std::get<Release>(of.sent().at(0).body).operation, acquired.hold.seq);
}

// Another member used the number of this request for one of its own.
TEST_F(AgentSemaphores, AGrantOfOtherPermitsIsNotItsAnswer) {
    const auto seq = ask_for(2);
    granted(seq, {0});
    EXPECT_EQ(std::get<CallError>(of.answer().result), CallError::outcome_unknown);
}

TEST_F(AgentSemaphores, AGrantOfALockIsNotItsAnswer) {
    const auto seq = ask_for(2);
    of.answered(seq, AnswerKind::granted);
    EXPECT_EQ(std::get<CallError>(of.answer().result), CallError::outcome_unknown);
}

TEST_F(AgentSemaphores, AResizeIsWrittenOrFindsAnotherVersion) {  // S34
    of.answered(write(Resize{"pool", 3, 0}), AnswerKind::stored);
    EXPECT_TRUE(std::holds_alternative<Written>(of.answer().result));
    of.answered(write(Resize{"pool", 3, 7}), AnswerKind::busy);
    EXPECT_TRUE(std::holds_alternative<Busy>(of.answer().result));
    of.answered(write(Resize{"pool", 3, 7}), AnswerKind::kind_mismatch);
    EXPECT_EQ(std::get<CallError>(of.answer().result), CallError::kind_mismatch);
}

TEST_F(AgentSemaphores, ARemovalIsWrittenOrFindsItInUse) {  // S37
    of.answered(write(Remove{"pool"}), AnswerKind::stored);
    EXPECT_TRUE(std::holds_alternative<Written>(of.answer().result));
    of.answered(write(Remove{"pool"}), AnswerKind::busy);
    EXPECT_TRUE(std::holds_alternative<Busy>(of.answer().result));
}

}  // namespace
}  // namespace mortise::core::test
