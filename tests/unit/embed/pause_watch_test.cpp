// Pauses of a thread, reports that must not be too many, and the steps of a close.
#include "embed/runtime/pause_watch.hpp"

#include <gtest/gtest.h>

#include "embed/runtime/close_steps.hpp"
#include "embed/values/at_most_every.hpp"

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;
using core::Instant;

constexpr Instant start{1'000'000'000};

TEST(PauseWatch, MeasuresHowLateATimerIs) {
    PauseWatch watch{{start, start + 5s}};
    EXPECT_EQ(watch.fired(start + 1s, {start + 1s, start + 6s}), 0s);
    EXPECT_EQ(watch.fired(start + 2s, {start + 4s, start + 9s}), 2s);
    // What became due in the same pause is no other pause.
    EXPECT_EQ(watch.fired(start + 3s, {start + 4s, start + 9s}), 0s);
}

TEST(PauseWatch, CountsATimeInWhichTheMachineSlept) {
    PauseWatch watch{{start, start}};
    EXPECT_EQ(watch.fired(start + 1s, {start + 2s, start + 12s}), 11s);
    EXPECT_EQ(watch.fired(start + 3s, {start + 3s, start + 13s}), 0s);
}

TEST(AtMostEvery, PassesOneInEachInterval) {
    AtMostEvery once{1s};
    EXPECT_TRUE(once.passes(Instant{0}));
    EXPECT_FALSE(once.passes(Instant{0} + 999ms));
    EXPECT_TRUE(once.passes(Instant{0} + 1s));
    EXPECT_FALSE(once.passes(Instant{0} + 1s));
}

TEST(CloseSteps, FinishOnce) {
    int done = 0;
    CloseSteps steps;
    steps.finish();
    EXPECT_FALSE(steps.is_awaited());
    steps.begin([&] { ++done; });
    EXPECT_TRUE(steps.is_awaited());
    steps.hand_over();
    steps.finish();
    steps.finish();
    EXPECT_EQ(done, 1);
    EXPECT_FALSE(steps.is_handing_over());
}

TEST(CloseSteps, KnowTheAnswerToTheReleases) {
    CloseSteps steps;
    EXPECT_FALSE(steps.is_closing());
    EXPECT_FALSE(steps.is_answer({}));  // a call without a tag
    steps.release(core::CallTag{7}, false);
    EXPECT_TRUE(steps.is_closing());
    EXPECT_TRUE(steps.is_answer(core::CallTag{7}));
    EXPECT_FALSE(steps.is_answer(core::CallTag{8}));
}

TEST(CloseSteps, WaitForMembersThatAreGoneOnlyIfSomethingIsOwed) {
    for (const bool owes_nothing : {true, false}) {
        CloseSteps steps;
        EXPECT_FALSE(steps.is_useless(false));
        steps.begin([] {});
        steps.release(core::CallTag{7}, owes_nothing);
        EXPECT_FALSE(steps.is_useless(true));
        EXPECT_EQ(steps.is_useless(false), owes_nothing);
        steps.finish();
        EXPECT_FALSE(steps.is_useless(false));
    }
}

}  // namespace
}  // namespace mortise::detail
