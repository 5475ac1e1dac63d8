// Callers of one node that wait for a lock which another caller of the node has (S41).
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/cache/lock_cache.hpp"

namespace mortise::core {
namespace {

using namespace std::chrono_literals;
using enum LockMode;

constexpr OperationId the_one{SessionId{7}, Seq{1}};
constexpr OperationId the_other{SessionId{7}, Seq{2}};

class LocalHandOver : public testing::Test {
protected:
    LocalHandOver() {
        cache_.released_ordinary("a", now_);  // from now on the name is worth a cached grant
    }
    ~LocalHandOver() override { cache_.check_invariants(); }

    void granted(OperationId grant = the_one, std::uint32_t tokens = 100, LockerTag locker = {}) {
        cache_.granted(grant, {"a", exclusive}, FencingToken{10}, tokens, {locker, "first"});
    }
    LockCache::Joined join(std::uint64_t call, LockerTag locker = {},
                           Instant deadline = Instant::never(), LockMode mode = exclusive) {
        return cache_.join("a", mode, {CallTag{call}, {locker, "caller"}, deadline}, now_);
    }
    // True if the caller waits for another one of this node.
    bool waits(std::uint64_t call) { return join(call).waits; }
    // The next user of the grant; zero if there is none.
    std::uint64_t release(OperationId grant = the_one) {
        const auto next = cache_.released(grant, now_).next;
        return next ? next->call.raw() : 0;
    }
    static std::vector<std::uint64_t> calls(const LockCache::Asking& asking) {
        std::vector<std::uint64_t> all;
        for (const auto& caller : asking.callers)
            all.push_back(caller.call.raw());
        return all;
    }

    using Calls = std::vector<std::uint64_t>;
    Instant now_{1'000'000'000};
    LockCache cache_;
};

TEST_F(LocalHandOver, TheNextCallerOfTheNodeGetsTheLockInTurn) {  // P1
    granted();
    EXPECT_TRUE(waits(1));
    EXPECT_TRUE(waits(2));
    const auto first = cache_.released(the_one, now_);
    ASSERT_TRUE(first.next);
    EXPECT_FALSE(first.back);
    EXPECT_EQ(first.next->call, CallTag{1});
    EXPECT_EQ(first.next->use.token, FencingToken{11});
    EXPECT_EQ(first.next->use.previous.label, "first");  // S23
    const auto second = cache_.released(the_one, now_);
    EXPECT_EQ(second.next->call, CallTag{2});
    EXPECT_EQ(second.next->use.token, FencingToken{12});
    EXPECT_EQ(release(), 0U);
    EXPECT_FALSE(cache_.is_in_use(the_one));
}

TEST_F(LocalHandOver, CallersWaitForTheOneThatAsksTheCluster) {
    EXPECT_GT(join(1).tokens, 0U);
    EXPECT_TRUE(waits(2));
    granted();
    EXPECT_TRUE(cache_.answered("a", CallTag{1}, now_).callers.empty());
    EXPECT_EQ(release(), 2U);
}

TEST_F(LocalHandOver, TheNextOneAsksIfTheRequestFails) {
    EXPECT_GT(join(1).tokens, 0U);
    EXPECT_TRUE(waits(2));
    EXPECT_TRUE(waits(3));
    const auto asking = cache_.answered("a", CallTag{1}, now_);
    EXPECT_EQ(calls(asking), Calls{2});
    EXPECT_GT(asking.tokens, 0U);
    EXPECT_TRUE(cache_.answered("a", CallTag{1}, now_).callers.empty());
    EXPECT_EQ(calls(cache_.answered("a", CallTag{2}, now_)), Calls{3});
}

TEST_F(LocalHandOver, AllAskForANameThatIsNotWorthACachedGrant) {
    EXPECT_GT(join(1).tokens, 0U);
    EXPECT_TRUE(waits(2));
    EXPECT_TRUE(waits(3));
    now_ = now_ + 2s;  // it was not taken in a row
    const auto asking = cache_.answered("a", CallTag{1}, now_);
    EXPECT_EQ(calls(asking), (Calls{2, 3}));
    EXPECT_EQ(asking.tokens, 0U);
}

TEST_F(LocalHandOver, OnlyWritersThatMayWaitDoSo) {
    granted();
    EXPECT_FALSE(join(1, {}, now_).waits);  // a try, or its time is over
    EXPECT_FALSE(join(2, {}, Instant::never(), shared).waits);
    EXPECT_TRUE(join(3, {}, now_ + 1ns).waits);
}

TEST_F(LocalHandOver, ALockerThatWaitsForItselfAsksTheCluster) {  // S33
    granted(the_one, 100, {1, {}});
    EXPECT_FALSE(join(1, {1, {}}).waits);
    EXPECT_TRUE(join(2, {2, {}}).waits);
}

TEST_F(LocalHandOver, AfterARecallItIsBoundedByNumber) {
    const std::uint64_t most = CacheOptions{}.hand_overs_max;
    granted();
    for (std::uint64_t call = 1; call <= most + 2; ++call)
        EXPECT_TRUE(waits(call));
    EXPECT_FALSE(cache_.recalled(the_one, now_));
    for (std::uint64_t call = 1; call <= most; ++call)
        EXPECT_EQ(release(), call);
    const auto last = cache_.released(the_one, now_);
    EXPECT_FALSE(last.next);
    ASSERT_TRUE(last.back);
    EXPECT_EQ(last.back->last->token, FencingToken{10 + most});
    EXPECT_EQ(calls(last.asking), Calls{most + 1});
    EXPECT_GT(last.asking.tokens, 0U);
    EXPECT_TRUE(waits(most + 3));  // behind most + 2, for the grant of most + 1
}

TEST_F(LocalHandOver, AfterARecallItIsBoundedByTime) {
    granted();
    EXPECT_TRUE(waits(1));
    EXPECT_TRUE(waits(2));
    EXPECT_FALSE(cache_.recalled(the_one, now_));
    now_ = now_ + 5ms - 1ns;
    EXPECT_EQ(release(), 1U);
    now_ = now_ + 1ns;
    EXPECT_TRUE(cache_.released(the_one, now_).back);
}

// The writers of the node wait for an exclusive grant.
TEST_F(LocalHandOver, AWriterDoesNotGetTheGrantOfAReader) {  // P2, S44
    cache_.granted(the_one, {"a", shared}, FencingToken{10}, 1, {{}, "reader"});
    const auto asker = join(1);
    EXPECT_FALSE(asker.waits);
    EXPECT_NE(asker.tokens, 0U);
    EXPECT_TRUE(waits(2));
    const auto after = cache_.released(the_one, now_);
    EXPECT_FALSE(after.next);
    EXPECT_FALSE(after.back);
    EXPECT_EQ(cache_.waiters(), 1U);
}

TEST_F(LocalHandOver, EachUserAfterARecallHasItsTimeBeforeItIsPublished) {  // S45
    granted();
    EXPECT_TRUE(waits(1));
    EXPECT_FALSE(cache_.recalled(the_one, now_));
    now_ = now_ + 4ms;
    EXPECT_EQ(release(), 1U);
    EXPECT_TRUE(cache_.take_due(now_ + 5ms - 1ns).publish.empty());
    EXPECT_EQ(cache_.take_due(now_ + 5ms).publish.size(), 1U);
}

TEST_F(LocalHandOver, AUserThatStaysMakesTheNextOneAsk) {  // S45
    granted();
    EXPECT_TRUE(waits(1));
    EXPECT_TRUE(waits(2));
    EXPECT_FALSE(cache_.recalled(the_one, now_));
    const auto due = cache_.take_due(now_ + 5ms);
    ASSERT_EQ(due.asking.size(), 1U);
    EXPECT_EQ(calls(due.asking.front()), Calls{1});
    EXPECT_TRUE(cache_.released(the_one, now_ + 5ms).back);
}

TEST_F(LocalHandOver, UsedUpTokensMakeTheNextOneAsk) {  // S39
    granted(the_one, 2);
    EXPECT_TRUE(waits(1));
    EXPECT_TRUE(waits(2));
    EXPECT_EQ(release(), 1U);
    const auto last = cache_.released(the_one, now_);
    EXPECT_TRUE(last.back);
    EXPECT_EQ(calls(last.asking), Calls{2});
}

TEST_F(LocalHandOver, ACallerThatHasWaitedForLongAsksTheCluster) {
    granted();
    EXPECT_TRUE(waits(1));
    EXPECT_EQ(cache_.deadline(), now_ + 50ms);
    EXPECT_TRUE(cache_.take_due(now_ + 50ms - 1ns).asking.empty());
    const auto due = cache_.take_due(now_ + 50ms);
    ASSERT_EQ(due.asking.size(), 1U);
    EXPECT_EQ(calls(due.asking.front()), Calls{1});
    EXPECT_EQ(cache_.waiters(), 0U);
}

TEST_F(LocalHandOver, BehindARequestThatWaitsForLongCallersAskAtOnce) {
    EXPECT_GT(join(1).tokens, 0U);
    now_ = now_ + 50ms;
    EXPECT_FALSE(waits(2));
}

TEST_F(LocalHandOver, ACallerWhoseTimeEndsIsToldSo) {
    granted();
    EXPECT_TRUE(join(1, {}, now_ + 10ms).waits);
    EXPECT_EQ(cache_.deadline(), now_ + 10ms);
    const auto due = cache_.take_due(now_ + 10ms);
    EXPECT_TRUE(due.asking.empty());
    ASSERT_EQ(due.timed_out.size(), 1U);
    EXPECT_EQ(release(), 0U);
}

// The core thread, which tells it so, may be late.
TEST_F(LocalHandOver, ACallerWhoseTimeIsOverDoesNotGetTheLock) {  // P9
    granted();
    EXPECT_TRUE(join(1, {}, now_ + 10ms).waits);
    EXPECT_TRUE(waits(2));
    now_ = now_ + 10ms;
    const auto released = cache_.released(the_one, now_);
    ASSERT_EQ(released.timed_out.size(), 1U);
    EXPECT_EQ(released.timed_out.front().call, CallTag{1});
    ASSERT_TRUE(released.next);
    EXPECT_EQ(released.next->call, CallTag{2});
}

TEST_F(LocalHandOver, NobodyIsServedHereBeforeACallerThatHasLeftTheLocalQueue) {
    granted();
    EXPECT_TRUE(waits(1));
    EXPECT_EQ(cache_.take_due(now_ + 50ms).asking.size(), 1U);
    now_ = now_ + 50ms;
    EXPECT_FALSE(waits(2));
    EXPECT_TRUE(cache_.answered("a", CallTag{1}, now_).callers.empty());
    EXPECT_TRUE(waits(3));
}

TEST_F(LocalHandOver, OnlySomeLeaveTheLineAtOnce) {  // P10
    CacheOptions options;
    options.waiters_due_max = 2;
    LockCache small{options};
    small.granted(the_one, {"a", exclusive}, FencingToken{10}, 8, {});
    for (std::uint64_t call = 1; call <= 3; ++call)
        EXPECT_TRUE(small.join("a", exclusive, {CallTag{call}}, now_).waits);
    EXPECT_EQ(small.take_due(now_ + 50ms).asking.size(), 2U);
    EXPECT_LE(small.deadline(), now_ + 50ms);
    EXPECT_EQ(small.take_due(now_ + 50ms).asking.size(), 1U);
}

TEST_F(LocalHandOver, ACallerThatWithdrawsGetsNothing) {
    granted();
    EXPECT_TRUE(waits(1));
    EXPECT_TRUE(waits(2));
    EXPECT_TRUE(cache_.withdraw(CallTag{1}));
    EXPECT_FALSE(cache_.withdraw(CallTag{1}));
    EXPECT_EQ(release(), 2U);
}

TEST_F(LocalHandOver, ALostOrAConvertedGrantMakesTheNextOneAsk) {
    granted();
    EXPECT_TRUE(waits(1));
    EXPECT_EQ(calls(cache_.lost(the_one, now_).asking), Calls{1});
    EXPECT_TRUE(cache_.answered("a", CallTag{1}, now_).callers.empty());
    granted(the_other);
    EXPECT_TRUE(waits(2));
    EXPECT_EQ(calls(cache_.make_ordinary(the_other, FencingToken{10}, now_).asking), Calls{2});
}

TEST_F(LocalHandOver, TheNumberOfThoseThatWaitIsBounded) {
    CacheOptions options;
    options.waiters_max = 1;
    LockCache small{options};
    small.granted(the_one, {"a", exclusive}, FencingToken{10}, 8, {});
    EXPECT_TRUE(small.join("a", exclusive, {CallTag{1}}, now_).waits);
    EXPECT_FALSE(small.join("a", exclusive, {CallTag{2}}, now_).waits);
}

// A grant that served several callers was worth it, although it was recalled.
TEST_F(LocalHandOver, ARecallAfterFewUsesMakesTheNodeAskForOrdinaryGrants) {
    granted();
    EXPECT_FALSE(cache_.recalled(the_one, now_));
    EXPECT_TRUE(cache_.released(the_one, now_).back);
    EXPECT_EQ(join(1).tokens, 0U);
    cache_.released_ordinary("a", now_);
    EXPECT_GT(join(2).tokens, 0U);
    granted(the_other);
    EXPECT_TRUE(cache_.answered("a", CallTag{2}, now_).callers.empty());
    for (std::uint64_t call = 3; call <= 5; ++call)
        EXPECT_TRUE(waits(call));
    EXPECT_FALSE(cache_.recalled(the_other, now_));
    for (std::uint64_t call = 3; call <= 5; ++call)
        EXPECT_EQ(release(the_other), call);
    EXPECT_TRUE(cache_.released(the_other, now_).back);
    EXPECT_GT(join(6).tokens, 0U);
}

}  // namespace
}  // namespace mortise::core
