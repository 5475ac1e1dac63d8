#include "embed/threads/call_gate.hpp"

#include <memory>
#include <new>

#include <gtest/gtest.h>

#include <mortise/errc.hpp>

namespace mortise::detail {
namespace {

using namespace std::chrono_literals;

class CallGateTest : public ::testing::Test {
protected:
    std::error_code acquire() {
        return gate_.submit(core::AcquireCall{gate_.next_tag(), {}, core::Instant::never()}, {});
    }
    std::error_code release() { return gate_.submit(core::ReleaseCall{}, {}); }

    int wakes_ = 0;
    CallGate gate_{[this] { ++wakes_; }, 1s, std::make_shared<Notifier>("test"), 20};
};

TEST_F(CallGateTest, WakesOnceForABurst) {
    for (int i = 0; i < 10; ++i)
        EXPECT_FALSE(acquire());
    EXPECT_EQ(wakes_, 1);
    EXPECT_EQ(gate_.take().size(), 10U);
    EXPECT_FALSE(acquire());
    EXPECT_EQ(wakes_, 2);
}

// P10: the remaining calls come after other pending work, in their order.
TEST_F(CallGateTest, WakesAgainForWhatWasNotTakenYet) {
    for (int i = 0; i < 10; ++i)
        EXPECT_FALSE(acquire());
    const auto first = gate_.take(4);
    ASSERT_EQ(first.size(), 4U);
    EXPECT_EQ(first.front().tag(), core::CallTag{1});
    EXPECT_EQ(wakes_, 2);
    EXPECT_FALSE(acquire());
    EXPECT_EQ(wakes_, 2);
    const auto rest = gate_.take(7);
    ASSERT_EQ(rest.size(), 7U);
    EXPECT_EQ(rest.front().tag(), core::CallTag{5});
    EXPECT_EQ(wakes_, 2);
}

TEST_F(CallGateTest, RefusesWhatBeginsAndTakesWhatEndsWhenItIsFull) {  // P11
    for (int i = 0; i < 20; ++i)
        EXPECT_FALSE(acquire());
    EXPECT_EQ(acquire(), Errc::resource_exhausted);
    EXPECT_FALSE(release());
    EXPECT_EQ(gate_.refused(), 1U);
    auto taken = gate_.take();
    EXPECT_EQ(taken.size(), 21U);
    // They are in progress until they are answered.
    EXPECT_EQ(acquire(), Errc::resource_exhausted);
    EXPECT_FALSE(release());
    taken = taken.take(19);
    EXPECT_FALSE(acquire());
    EXPECT_EQ(acquire(), Errc::resource_exhausted);
}

TEST_F(CallGateTest, TakesWhatWasPreparedOnce) {
    auto call = prepared(core::CancelCall{gate_.next_tag()});
    EXPECT_FALSE(gate_.submit(call));
    EXPECT_FALSE(gate_.submit(call));
    EXPECT_EQ(gate_.take().size(), 1U);
    EXPECT_TRUE(gate_.close().empty());
    auto late = prepared(core::CancelCall{gate_.next_tag()});
    EXPECT_EQ(gate_.submit(late), Errc::node_stopped);
}

TEST_F(CallGateTest, TakesWhatGoesFirstBeforeTheRest) {
    EXPECT_FALSE(release());
    auto call = prepared(core::CancelCall{gate_.next_tag()});
    EXPECT_FALSE(gate_.submit_first(call));
    const auto taken = gate_.take();
    ASSERT_EQ(taken.size(), 2U);
    EXPECT_TRUE(taken.front().is<core::CancelCall>());
    EXPECT_EQ(wakes_, 1);
}

// Only time was lost: the queued calls are taken with the next one.
TEST(CallGate, WakesAgainWhatCouldNotBeWoken) {  // P10
    int wakes = 0;
    CallGate gate{[&] {
                      if (++wakes == 1) throw std::bad_alloc{};
                  },
                  1s, std::make_shared<Notifier>("test")};
    for (int i = 0; i < 3; ++i)
        EXPECT_FALSE(gate.submit(core::ReleaseCall{}, {}));
    EXPECT_EQ(wakes, 2);
    EXPECT_EQ(gate.take().size(), 3U);
}

// A close waits until the owners of its holds were notified.
TEST_F(CallGateTest, TakesOnlyNoticesOfLossesFromANodeThatCloses) {  // S6, P3
    auto told = prepared(core::ToldCall{});
    EXPECT_FALSE(acquire());
    EXPECT_FALSE(gate_.submit(told));
    EXPECT_FALSE(release());
    EXPECT_EQ(gate_.refuse_calls().size(), 2U);
    EXPECT_EQ(acquire(), Errc::node_stopped);
    EXPECT_EQ(release(), Errc::node_stopped);
    EXPECT_EQ(gate_.submit(told), Errc::node_stopped) << "it is empty";
    EXPECT_EQ(gate_.take().size(), 1U);
    told = prepared(core::ToldCall{});
    EXPECT_FALSE(gate_.submit(told));
    EXPECT_EQ(wakes_, 2);
    EXPECT_EQ(gate_.close().size(), 1U);
    EXPECT_TRUE(gate_.refuse_calls().empty());
    told = prepared(core::ToldCall{});
    EXPECT_EQ(gate_.submit(told), Errc::node_stopped);
}

TEST_F(CallGateTest, GivesBackWhatItHadWhenItCloses) {
    EXPECT_FALSE(acquire());
    EXPECT_EQ(gate_.close().size(), 1U);
    EXPECT_EQ(acquire(), Errc::node_stopped);
    EXPECT_EQ(release(), Errc::node_stopped);
    EXPECT_EQ(wakes_, 1);
}

}  // namespace
}  // namespace mortise::detail
