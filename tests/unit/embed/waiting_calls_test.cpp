// Calls that wait for another run of their node.
#include "embed/runtime/waiting_calls.hpp"

#include <chrono>
#include <memory>

#include <gtest/gtest.h>

#include <mortise/errc.hpp>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

class Told final : public Completion {
public:
    void complete(CallOutcome outcome) noexcept override { error = outcome.error; }

    std::optional<std::error_code> error;
};

TEST(PendingCalls, SomeHaveAnUnknownOutcomeWithoutAnAnswer) {  // P6
    EXPECT_TRUE(is_unknown_unanswered(*prepared(core::ReleaseCall{})));
    EXPECT_TRUE(is_unknown_unanswered(*prepared(core::WriteCall{})));
    EXPECT_TRUE(is_unknown_unanswered(*prepared(core::ChangeCall{})));
    EXPECT_FALSE(is_unknown_unanswered(*prepared(core::AcquireCall{})));
}

class WaitingCallsTest : public ::testing::Test {
protected:
    static constexpr core::Instant start{1'000'000'000};
    static constexpr core::Nanoseconds patience = 10s;

    template <class Call>
    std::shared_ptr<Told> add(Call call) {
        auto told = std::make_shared<Told>();
        auto submitted = prepared(std::move(call));
        submitted->answer_to(told);
        waiting_.add(SubmittedCalls{std::move(submitted)}, start, patience);
        return told;
    }
    static core::AcquireCall acquire(std::uint64_t tag, core::Instant deadline) {
        core::AcquireCall call;
        call.tag = core::CallTag{tag};
        call.deadline = deadline;
        return call;
    }

    WaitingCalls waiting_;
};

TEST_F(WaitingCallsTest, EachIsAnsweredAtItsOwnTime) {
    const auto soon = add(acquire(1, start + 50ms));
    const auto late = add(acquire(2, core::Instant::never()));
    EXPECT_EQ(waiting_.deadline(), start + 50ms);
    waiting_.give_up(start + 49ms);
    EXPECT_FALSE(soon->error);
    waiting_.give_up(start + 50ms);
    EXPECT_EQ(soon->error, Errc::no_quorum);
    EXPECT_FALSE(late->error);
    EXPECT_EQ(waiting_.deadline(), start + patience);
    waiting_.give_up(start + patience);
    EXPECT_EQ(late->error, Errc::no_quorum);
    EXPECT_EQ(waiting_.deadline(), core::Instant::never());
}

TEST_F(WaitingCallsTest, WhatIsCancelledIsOver) {
    const auto first = add(acquire(1, core::Instant::never()));
    const auto second = add(acquire(2, core::Instant::never()));
    add(core::CancelCall{core::CallTag{1}});
    add(core::CancelCall{core::CallTag{3}});
    EXPECT_EQ(first->error, Errc::cancelled);
    EXPECT_FALSE(second->error);
    EXPECT_EQ(waiting_.take_all().size(), 1U);
}

TEST_F(WaitingCallsTest, AReleaseHasAnUnknownOutcome) {
    const auto release = add(core::ReleaseCall{core::CallTag{1}, {}});
    waiting_.give_up(start + patience);
    EXPECT_EQ(release->error, Errc::outcome_unknown);
}

TEST_F(WaitingCallsTest, TheRestGoesOnInItsOrder) {
    add(acquire(2, core::Instant::never()));
    add(acquire(1, core::Instant::never()));
    const auto rest = waiting_.take_all();
    ASSERT_EQ(rest.size(), 2U);
    EXPECT_EQ(rest.front().tag(), core::CallTag{2});
    EXPECT_TRUE(waiting_.take_all().empty());
}

}  // namespace
}  // namespace mortise::detail
