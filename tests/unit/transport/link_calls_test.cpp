#include "transport/peers/link_calls.hpp"

#include <gtest/gtest.h>

namespace mortise::transport {
namespace {

using Need = LinkCalls::Need;
using std::chrono::milliseconds;

class LinkCallsTest : public ::testing::Test {
protected:
    static constexpr LinkCalls::Limits limits{2, 100, milliseconds{50}, milliseconds{20}};

    Need after(milliseconds pause) {
        now = now + pause;
        return calls.tick(now);
    }

    core::Instant now{};
    LinkCalls calls{limits, now};
};

TEST_F(LinkCallsTest, HaveRoomForSoManyCallsAndWords) {
    const auto one = calls.sent(1, now);
    EXPECT_TRUE(calls.has_room());
    const auto two = calls.sent(1, now);
    EXPECT_FALSE(calls.has_room());
    calls.answered(two, now);
    EXPECT_TRUE(calls.has_room());
    calls.answered(one, now);
    calls.sent(100, now);
    EXPECT_FALSE(calls.has_room());
}

TEST_F(LinkCallsTest, GiveEachCallTheLowestNumberThatIsFree) {
    EXPECT_EQ(calls.sent(10, now), 0U);
    EXPECT_EQ(calls.sent(90, now), 1U);
    calls.answered(0, now);
    EXPECT_EQ(calls.sent(9, now), 0U);
    calls.answered(1, now);
    EXPECT_EQ(calls.sent(90, now), 1U);
    EXPECT_FALSE(calls.has_room());
}

TEST_F(LinkCallsTest, PingWithoutMessages) {
    EXPECT_EQ(after(milliseconds{19}), Need::nothing);
    EXPECT_EQ(after(milliseconds{1}), Need::ping);
    calls.answered(calls.sent(1, now), now);
    EXPECT_EQ(after(milliseconds{19}), Need::nothing);
}

TEST_F(LinkCallsTest, ASilentPeerIsSuspectedFirst) {
    EXPECT_EQ(after(milliseconds{500}), Need::ping);
    calls.sent(1, now);
    EXPECT_EQ(after(milliseconds{49}), Need::nothing);
    EXPECT_EQ(after(milliseconds{1}), Need::nothing);
    EXPECT_EQ(after(milliseconds{1}), Need::close);
}

TEST_F(LinkCallsTest, AnAnswerEndsTheSuspicion) {
    const auto one = calls.sent(1, now);
    calls.sent(1, now);
    EXPECT_EQ(after(milliseconds{50}), Need::nothing);
    calls.answered(one, now);
    EXPECT_EQ(after(milliseconds{50}), Need::nothing);
    EXPECT_EQ(after(milliseconds{1}), Need::close);
}

}  // namespace
}  // namespace mortise::transport
