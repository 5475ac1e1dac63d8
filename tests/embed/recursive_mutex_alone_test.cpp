// RecursiveMutex without a cluster: its levels, and the effect of a loss.
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/embed/scripted_node.hpp"
#include <mortise/errc.hpp>
#include <mortise/lock_error.hpp>
#include <mortise/mutex.hpp>
#include <mortise/recursive_mutex.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;

template <class F>
std::error_code error_of(F body) {
    try {
        body();
        return {};
    } catch (const LockError& error) {
        return error.code();
    }
}

class RecursiveMutexAlone : public ::testing::Test {
protected:
    detail::NodeRuntime& script() { return detail::NodeRuntime::of(node_); }
    detail::NodeRuntime::Record grant(std::size_t number) { return script().grants().at(number); }
    std::size_t asked() { return script().orders().size(); }

    Node node_{Config{}};
    RecursiveMutex mutex_{node_, "m"};
};

TEST_F(RecursiveMutexAlone, AsksOnceAndGivesBackWithTheLastUnlock) {
    mutex_.lock();
    mutex_.lock();
    EXPECT_TRUE(mutex_.try_lock());
    EXPECT_TRUE(mutex_.try_lock_for(1s));
    EXPECT_EQ(asked(), 1U);
    for (int level = 0; level < 3; ++level) {
        mutex_.unlock();
        EXPECT_TRUE(mutex_.owned_by_this_thread());
        EXPECT_TRUE(mutex_.hold().valid());
    }
    EXPECT_FALSE(grant(0)->is_released());
    mutex_.unlock();
    EXPECT_TRUE(grant(0)->is_released());
    EXPECT_FALSE(mutex_.owned_by_this_thread());
    mutex_.unlock();
    EXPECT_EQ(script().not_held().size(), 1U);
}

TEST_F(RecursiveMutexAlone, WorksWithTheLocksOfTheStandard) {
    const std::scoped_lock outer{mutex_};
    const std::unique_lock inner{mutex_};
    EXPECT_TRUE(inner.owns_lock());
    EXPECT_EQ(asked(), 1U);
}

TEST_F(RecursiveMutexAlone, RecursesInItsOwnThreadOnly) {
    mutex_.lock();
    std::thread{[&] {
        EXPECT_FALSE(mutex_.owned_by_this_thread());
        mutex_.lock();  // the script grants every request
        EXPECT_TRUE(mutex_.owned_by_this_thread());
        mutex_.unlock();
    }}.join();
    EXPECT_EQ(asked(), 2U);
    EXPECT_TRUE(grant(1)->is_released());
    EXPECT_FALSE(grant(0)->is_released());
    mutex_.unlock();
}

TEST_F(RecursiveMutexAlone, WhatWasLostIsNotLockedAgainBeforeEveryLevelIsUnlocked) {
    mutex_.lock();
    mutex_.lock();
    ASSERT_TRUE(grant(0)->mark_lost(LossReason::expired));
    EXPECT_EQ(error_of([&] { mutex_.lock(); }), Errc::lock_lost);
    EXPECT_EQ(error_of([&] { (void)mutex_.try_lock(); }), Errc::lock_lost);
    EXPECT_EQ(error_of([&] { (void)mutex_.try_lock_for(1s); }), Errc::lock_lost);
    mutex_.unlock();
    EXPECT_EQ(error_of([&] { mutex_.lock(); }), Errc::lock_lost);
    mutex_.unlock();
    EXPECT_EQ(asked(), 1U);
    mutex_.lock();
    EXPECT_EQ(asked(), 2U);
    EXPECT_TRUE(mutex_.hold().valid());
    mutex_.unlock();
}

// The loss is the same through another object: both share one grant.
TEST_F(RecursiveMutexAlone, AnotherObjectOfTheNameKnowsOfTheLoss) {
    RecursiveMutex other{node_, "m"};
    mutex_.lock();
    ASSERT_TRUE(grant(0)->mark_lost(LossReason::expired));
    EXPECT_EQ(error_of([&] { other.lock(); }), Errc::lock_lost);
    EXPECT_EQ(error_of([&] { (void)other.try_lock(); }), Errc::lock_lost);
    mutex_.unlock();
    other.lock();
    other.unlock();
}

// The waiting thread is the only one that could unlock its levels.
TEST_F(RecursiveMutexAlone, ALossWhileAnotherObjectWaitsEndsItsWait) {
    RecursiveMutex other{node_, "m"};
    const std::vector<std::error_code> answers(200, make_error_code(Errc::no_quorum));
    std::error_code locked;
    std::error_code tried;
    std::thread waiter{[&] {
        mutex_.lock();
        script().will_answer(answers);
        locked = error_of([&] { other.lock(); });
        tried = error_of([&] { (void)other.try_lock_for(1h); });
        mutex_.unlock();
    }};
    while (asked() < 3)
        std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(grant(0)->mark_lost(LossReason::expired));
    waiter.join();
    EXPECT_EQ(locked, Errc::lock_lost);
    EXPECT_EQ(tried, Errc::lock_lost);
}

TEST_F(RecursiveMutexAlone, IsADeadlockWithAMutexOfTheName) {
    Mutex plain{node_, "m"};
    {
        const std::scoped_lock lock{plain};
        EXPECT_EQ(error_of([&] { mutex_.lock(); }), Errc::deadlock);
        EXPECT_FALSE(mutex_.try_lock());
    }
    const std::scoped_lock lock{mutex_};
    EXPECT_EQ(error_of([&] { plain.lock(); }), Errc::deadlock);
    EXPECT_FALSE(plain.try_lock());
}

TEST_F(RecursiveMutexAlone, HasAGround) {
    constexpr int depth_max = 1024;
    for (int level = 0; level < depth_max; ++level)
        mutex_.lock();
    EXPECT_EQ(error_of([&] { mutex_.lock(); }), Errc::resource_exhausted);
    EXPECT_EQ(error_of([&] { (void)mutex_.try_lock(); }), Errc::resource_exhausted);
    for (int level = 0; level < depth_max; ++level)
        mutex_.unlock();
    EXPECT_TRUE(grant(0)->is_released());
    EXPECT_EQ(script().not_held().size(), 0U);
}

TEST_F(RecursiveMutexAlone, IsUnlockedWhenItsThreadEndsAtAnyDepth) {
    std::thread{[&] {
        mutex_.lock();
        mutex_.lock();
    }}.join();
    EXPECT_TRUE(grant(0)->is_released());
}

TEST_F(RecursiveMutexAlone, SetsTheLockerItself) {
    AcquireOptions options;
    options.wait_max = 1s;
    EXPECT_EQ(error_of([&] { RecursiveMutex(node_, "n", options); }), Errc::invalid_argument);
}

}  // namespace
}  // namespace mortise
