#include "transport/network/notice_limit.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace mortise::transport {
namespace {

using namespace std::chrono_literals;

TEST(NoticeLimit, TheSameIsSaidOnceAMinute) {
    NoticeLimit limit;
    const core::Instant now{};
    EXPECT_TRUE(limit.may_say("a", "cause", now));
    EXPECT_FALSE(limit.may_say("a", "cause", now + 59s));
    EXPECT_TRUE(limit.may_say("a", "other", now + 59s));
    EXPECT_TRUE(limit.may_say("b", "cause", now + 59s));
    EXPECT_TRUE(limit.may_say("a", "cause", now + 60s));
}

TEST(NoticeLimit, HoweverManyThereAreItDoesNotSayMuch) {
    NoticeLimit limit;
    std::size_t said = 0;
    for (int i = 0; i < 1'000; ++i)
        said += limit.may_say(std::to_string(i), "cause", core::Instant{}) ? 1 : 0;
    EXPECT_EQ(said, 16U);
    EXPECT_TRUE(limit.may_say("late", "cause", core::Instant{} + 60s));
}

}  // namespace
}  // namespace mortise::transport
