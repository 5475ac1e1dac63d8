// RateLimiter: never more permits in a stretch of time than agreed, also through a failover.
#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <vector>

#include "tests/embed/one_node.hpp"
#include <mortise/testkit/local_cluster.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

class Rate : public OneNode {};

TEST_F(Rate, GivesSoManyAtOnceAndNoMore) {
    RateLimiter limiter{node_, "calls", 3, 1h};
    EXPECT_EQ(limiter.acquire().size(), 1U);
    EXPECT_EQ(limiter.acquire(2).size(), 2U);
    EXPECT_FALSE(limiter.try_acquire());
    EXPECT_FALSE(limiter.acquire_for(1, 5ms));
    std::error_code ec;
    EXPECT_FALSE(limiter.try_acquire(1, ec));
    EXPECT_FALSE(ec);
    EXPECT_FALSE(limiter.acquire_for(1, 5ms, ec));
    EXPECT_FALSE(ec);
    RateLimiter another{node_, "others", 1, 1h};
    EXPECT_TRUE(another.try_acquire());
}

TEST_F(Rate, APermitComesBackAfterItsTime) {
    RateLimiter limiter{node_, "calls", 2, 100ms};
    const auto begin = SteadyClock::now();
    std::map<std::uint32_t, FencingToken> newest;
    for (int permit = 0; permit < 6; ++permit) {
        for (const auto& slot : limiter.acquire()) {
            EXPECT_LT(slot.number, 2U);
            EXPECT_GT(slot.token, newest[slot.number]);
            newest[slot.number] = slot.token;
        }
    }
    EXPECT_GE(SteadyClock::now() - begin, 200ms);
}

TEST_F(Rate, ALargeRequestIsNotOvertaken) {
    RateLimiter limiter{node_, "calls", 2, 150ms};
    (void)limiter.acquire();
    std::jthread large{[&] { EXPECT_EQ(limiter.acquire(2).size(), 2U); }};
    EXPECT_TRUE(wait_for_waiters("calls", 1));
    EXPECT_FALSE(limiter.try_acquire());
}

TEST_F(Rate, RefusesWhatMakesNoSense) {
    const auto made = [&](std::string_view name, std::uint32_t permits, Duration per) {
        return thrown_by([&] { const RateLimiter limiter{node_, name, permits, per}; });
    };
    EXPECT_EQ(made("x", 0, 1s), Errc::invalid_argument);
    EXPECT_EQ(made("x", 65'537, 1s), Errc::invalid_argument);
    EXPECT_EQ(made("", 1, 1s), Errc::invalid_argument);
    EXPECT_EQ(made("x", 1, 0s), Errc::invalid_argument);
    EXPECT_EQ(made("x", 1, Duration::max()), Errc::invalid_argument);
    EXPECT_EQ(made("x", 1, 25 * 24h), Errc::invalid_argument);
    EXPECT_FALSE(made("x", 65'536, 24 * 24h));
    RateLimiter limiter{node_, "calls", 2, 1s};
    std::error_code ec;
    EXPECT_TRUE(limiter.acquire(3, ec).empty());
    EXPECT_EQ(ec, Errc::invalid_argument);
    EXPECT_FALSE(limiter.try_acquire(0, ec));
    EXPECT_EQ(ec, Errc::invalid_argument);
    EXPECT_THROW((void)limiter.acquire(3), LockError);
}

// The moments are taken after each permit was granted, so two of them may seem closer than they
// were by what the newer answer took less than the older one.
TEST(RateInACluster, IsKeptThroughTheDeathOfTheLeader) {
    testkit::LocalCluster cluster{3, testkit::quick_timing()};
    const auto leader = cluster.leader().value();
    auto& node = cluster.node((leader + 1) % 3);
    RateLimiter limiter{node, "calls", 4, 500ms};
    std::deque<SteadyClock::time_point> asked;
    std::deque<SteadyClock::time_point> granted;
    const auto begin = SteadyClock::now();
    while (SteadyClock::now() < begin + 4s) {
        if (granted.size() == 6 && cluster.is_running(leader)) cluster.kill(leader);
        asked.push_back(SteadyClock::now());
        std::error_code ec;
        if (limiter.acquire_for(1, 2s, ec)) {
            granted.push_back(SteadyClock::now());
        } else {
            asked.pop_back();
        }
    }
    ASSERT_GE(granted.size(), 12U);
    for (std::size_t i = 0; i + 4 < granted.size(); ++i)
        EXPECT_GE(granted[i + 4] - asked[i], 500ms) << i;
}

}  // namespace
}  // namespace mortise
