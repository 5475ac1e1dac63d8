// Mutex and SharedMutex without a cluster: how they react to each answer, and which thread owns
// what.
#include <chrono>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/embed/scripted_node.hpp"
#include <mortise/errc.hpp>
#include <mortise/lock_error.hpp>
#include <mortise/mutex.hpp>
#include <mortise/shared_mutex.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Runs on a thread of its own, which has ended when this returns.
template <class F>
void elsewhere(F body) {
    std::thread{std::move(body)}.join();
}

template <class F>
std::error_code error_of(F body) {
    try {
        body();
        return {};
    } catch (const LockError& error) {
        return error.code();
    }
}

class MutexAlone : public ::testing::Test {
protected:
    detail::NodeRuntime& script() { return detail::NodeRuntime::of(node_); }
    detail::NodeRuntime::Record grant(std::size_t number) { return script().grants().at(number); }
    std::size_t asked() { return script().orders().size(); }
    void lose(std::size_t number) { ASSERT_TRUE(grant(number)->mark_lost(LossReason::expired)); }

    Node node_{Config{}};
    Mutex mutex_{node_, "m"};
};

// --- answers of the cluster

TEST_F(MutexAlone, LockGoesOnThroughWhatPasses) {
    script().will_answer({Errc::session_expired, Errc::no_quorum, Errc::not_ready,
                          Errc::outcome_unknown, Errc::lock_lost, Errc::stale_request});
    mutex_.lock();
    EXPECT_EQ(asked(), 7U);
    EXPECT_TRUE(mutex_.hold().valid());
    mutex_.unlock();
}

TEST_F(MutexAlone, LockThrowsWhatWaitingDoesNotCure) {
    for (const Errc code : {Errc::node_stopped, Errc::forked, Errc::deadlock,
                            Errc::permission_denied, Errc::invalid_argument, Errc::kind_mismatch,
                            Errc::resource_exhausted, Errc::incompatible, Errc::cancelled}) {
        script().will_answer({code});
        EXPECT_EQ(error_of([&] { mutex_.lock(); }), code) << to_string(code);
        EXPECT_FALSE(mutex_.owned_by_this_thread());
    }
}

TEST_F(MutexAlone, TheErrorNamesTheLock) {
    script().will_answer({Errc::kind_mismatch});
    try {
        mutex_.lock();
        FAIL() << "it was told of an error";
    } catch (const LockError& error) {
        EXPECT_EQ(error.detail().name, "m");
    }
}

TEST_F(MutexAlone, ATryIsFalseWhenItIsNotToBeHadNow) {
    const std::error_code busy;
    for (const std::error_code answer :
         {busy, make_error_code(Errc::deadlock), make_error_code(Errc::no_quorum),
          make_error_code(Errc::session_expired), make_error_code(Errc::cancelled)}) {
        script().will_answer({answer});
        EXPECT_FALSE(mutex_.try_lock()) << answer.message();
        script().will_answer({answer});
        EXPECT_FALSE(mutex_.try_lock_for(0s)) << answer.message();
    }
    EXPECT_TRUE(mutex_.try_lock());
    mutex_.unlock();
}

TEST_F(MutexAlone, ATryThrowsWhatWaitingDoesNotCure) {
    for (const Errc code :
         {Errc::node_stopped, Errc::forked, Errc::permission_denied, Errc::invalid_argument,
          Errc::kind_mismatch, Errc::resource_exhausted, Errc::incompatible}) {
        script().will_answer({code, code});
        EXPECT_EQ(error_of([&] { std::ignore = mutex_.try_lock(); }), code) << to_string(code);
        EXPECT_EQ(error_of([&] { std::ignore = mutex_.try_lock_for(1h); }), code);
    }
}

TEST_F(MutexAlone, ATryWithTimeGoesOnThroughWhatPasses) {
    script().will_answer({Errc::no_quorum, Errc::session_expired});
    EXPECT_TRUE(mutex_.try_lock_for(1h));
    EXPECT_EQ(asked(), 3U);
    mutex_.unlock();
}

TEST_F(MutexAlone, BusyAtItsTimeIsNotAskedAgain) {
    script().will_answer({std::error_code{}});
    EXPECT_FALSE(mutex_.try_lock_for(1h));
    EXPECT_EQ(asked(), 1U);
}

TEST_F(MutexAlone, AsksForWhatTheCallSays) {
    using detail::Attempt;
    mutex_.lock();
    mutex_.unlock();
    std::ignore = mutex_.try_lock();
    mutex_.unlock();
    const auto soon = std::chrono::steady_clock::now() + 1h;
    std::ignore = mutex_.try_lock_until(soon);
    mutex_.unlock();
    std::ignore = mutex_.try_lock_for(-1h);
    mutex_.unlock();
    const auto orders = script().orders();
    ASSERT_EQ(orders.size(), 4U);
    EXPECT_EQ(orders[0].attempt, Attempt::wait);
    EXPECT_EQ(orders[1].attempt, Attempt::once);
    EXPECT_EQ(orders[2].attempt, Attempt::until);
    EXPECT_EQ(orders[2].deadline, soon);
    EXPECT_EQ(orders[3].attempt, Attempt::once);
    for (const auto& order : orders) {
        EXPECT_EQ(order.name, "m");
        EXPECT_EQ(order.options.mode, LockMode::exclusive);
    }
}

TEST_F(MutexAlone, PassesItsOptionsOn) {
    Mutex labelled{node_, "other", {.label = "nightly"}};
    labelled.lock();
    EXPECT_EQ(script().orders().back().options.label, "nightly");
    labelled.unlock();
}

TEST_F(MutexAlone, OptionsWhichItSetsItselfAreRefused) {
    const auto make = [&](AcquireOptions options) {
        return error_of([&] { const Mutex mutex{node_, "m", std::move(options)}; });
    };
    EXPECT_EQ(make({.mode = LockMode::shared}), Errc::invalid_argument);
    EXPECT_EQ(make({.wait_max = 1s}), Errc::invalid_argument);
    EXPECT_EQ(make({}), std::error_code{});
}

// --- ownership of threads

TEST_F(MutexAlone, ASecondLockByTheSameThreadIsADeadlock) {
    mutex_.lock();
    Mutex again{node_, "m"};
    SharedMutex shared{node_, "m"};
    EXPECT_EQ(error_of([&] { mutex_.lock(); }), Errc::deadlock);
    EXPECT_EQ(error_of([&] { again.lock(); }), Errc::deadlock);
    EXPECT_EQ(error_of([&] { shared.lock_shared(); }), Errc::deadlock);
    EXPECT_FALSE(mutex_.try_lock());
    EXPECT_FALSE(again.try_lock_for(1h));
    EXPECT_FALSE(shared.try_lock_shared_for(1h));
    EXPECT_EQ(asked(), 1U);
    mutex_.unlock();
    EXPECT_TRUE(again.try_lock());
    again.unlock();
}

TEST_F(MutexAlone, ASecondNameOrNodeOrThreadIsNone) {
    Node other_node{Config{}};
    Mutex elsewhere_named{other_node, "m"};
    Mutex longer{node_, "m2"};
    const std::scoped_lock lock{mutex_, elsewhere_named, longer};
    elsewhere([&] {
        EXPECT_TRUE(mutex_.try_lock());
        mutex_.unlock();
    });
}

TEST_F(MutexAlone, UnlockGivesBackTheHoldOfThisThread) {
    mutex_.lock();
    EXPECT_EQ(mutex_.hold().token(), FencingToken::from_raw(1));
    EXPECT_TRUE(mutex_.owned_by_this_thread());
    mutex_.unlock();
    EXPECT_TRUE(grant(0)->is_released());
    EXPECT_FALSE(mutex_.hold());
    EXPECT_FALSE(mutex_.owned_by_this_thread());
    EXPECT_THAT(script().not_held(), IsEmpty());
}

TEST_F(MutexAlone, OtherThreadsHaveNothing) {
    mutex_.lock();
    elsewhere([&] {
        EXPECT_FALSE(mutex_.hold());
        EXPECT_FALSE(mutex_.owned_by_this_thread());
        mutex_.unlock();
    });
    EXPECT_FALSE(grant(0)->is_released());
    EXPECT_THAT(script().not_held(), ElementsAre("m"));
    mutex_.unlock();
}

TEST_F(MutexAlone, AnotherObjectOfTheNameUnlocksNothing) {
    Mutex again{node_, "m"};
    mutex_.lock();
    again.unlock();
    EXPECT_FALSE(grant(0)->is_released());
    EXPECT_THAT(script().not_held(), ElementsAre("m"));
    mutex_.unlock();
}

TEST_F(MutexAlone, AReaderIsNotUnlockedAsAWriter) {
    SharedMutex shared{node_, "s"};
    shared.lock_shared();
    shared.unlock();
    EXPECT_TRUE(shared.hold().valid());
    EXPECT_THAT(script().not_held(), ElementsAre("s"));
    shared.unlock_shared();
    shared.lock();
    shared.unlock_shared();
    EXPECT_TRUE(shared.hold().valid());
    shared.unlock();
    EXPECT_EQ(script().not_held().size(), 2U);
    EXPECT_EQ(script().orders()[0].options.mode, LockMode::shared);
    EXPECT_EQ(script().orders()[1].options.mode, LockMode::exclusive);
}

// --- losses

TEST_F(MutexAlone, UnlockOfALostHoldDoesNothing) {
    mutex_.lock();
    lose(0);
    EXPECT_TRUE(mutex_.owned_by_this_thread());
    EXPECT_EQ(mutex_.hold().state(), HoldState::lost);
    mutex_.unlock();
    EXPECT_FALSE(mutex_.owned_by_this_thread());
    EXPECT_THAT(script().not_held(), IsEmpty());
}

TEST_F(MutexAlone, ALostLockIsLockedAnew) {
    mutex_.lock();
    lose(0);
    mutex_.lock();
    EXPECT_EQ(mutex_.hold().token(), FencingToken::from_raw(2));
    EXPECT_TRUE(mutex_.hold().valid());
    mutex_.unlock();
    EXPECT_TRUE(grant(1)->is_released());
    mutex_.unlock();
    EXPECT_EQ(script().not_held().size(), 1U);
}

TEST_F(MutexAlone, ALossInOneObjectDoesNotKeepAnotherFromLocking) {
    Mutex again{node_, "m"};
    mutex_.lock();
    lose(0);
    again.lock();
    mutex_.unlock();
    EXPECT_FALSE(grant(1)->is_released());
    EXPECT_THAT(script().not_held(), IsEmpty());
    again.unlock();
}

TEST_F(MutexAlone, AThreadThatLostItDoesNotUnlockTheNextOwner) {
    mutex_.lock();
    lose(0);
    std::promise<void> locked;
    std::promise<void> unlocked;
    std::thread next{[&] {
        mutex_.lock();
        locked.set_value();
        unlocked.get_future().wait();
        EXPECT_TRUE(mutex_.hold().valid());
        mutex_.unlock();
    }};
    locked.get_future().wait();
    mutex_.unlock();
    EXPECT_FALSE(grant(1)->is_released());
    unlocked.set_value();
    next.join();
    EXPECT_TRUE(grant(1)->is_released());
}

// --- the end of threads and nodes

TEST_F(MutexAlone, WhatAThreadHasLockedIsUnlockedWhenItEnds) {
    SharedMutex shared{node_, "s"};
    elsewhere([&] {
        mutex_.lock();
        shared.lock_shared();
    });
    EXPECT_TRUE(grant(0)->is_released());
    EXPECT_TRUE(grant(1)->is_released());
    // A new thread may get the id of one that has ended; it does not get that one's locks.
    for (int round = 0; round < 20; ++round) {
        elsewhere([&] { EXPECT_FALSE(mutex_.owned_by_this_thread()); });
    }
}

TEST_F(MutexAlone, AThreadMayEndAfterTheNode) {
    std::promise<void> locked;
    std::promise<void> gone;
    auto node = std::make_unique<Node>(Config{});
    auto mutex = std::make_unique<Mutex>(*node, "m");
    std::thread owner{[&] {
        mutex->lock();
        locked.set_value();
        gone.get_future().wait();
    }};
    locked.get_future().wait();
    const auto grants = detail::NodeRuntime::of(*node).grants();
    mutex.reset();
    EXPECT_TRUE(grants.at(0)->is_released());
    node.reset();
    gone.set_value();
    owner.join();
}

TEST_F(MutexAlone, OutlivesItsNode) {
    auto node = std::make_unique<Node>(Config{});
    Mutex mutex{*node, "m"};
    mutex.lock();
    node.reset();
    mutex.unlock();
    EXPECT_FALSE(mutex.owned_by_this_thread());
}

// Locks for ever in its destructor, when its thread has nearly ended.
struct LastWords {
    Mutex* mutex = nullptr;
    ~LastWords() {
        if (mutex == nullptr) return;
        mutex->lock();
        mutex->unlock();
        mutex->lock();
    }
};

TEST_F(MutexAlone, AThreadMayLockInItsLastMoments) {
    auto mutex = std::make_unique<Mutex>(node_, "last");
    elsewhere([&] {
        // created before the first lock, so destroyed after it
        static thread_local LastWords words;
        words.mutex = mutex.get();
        mutex_.lock();
    });
    ASSERT_EQ(script().grants().size(), 3U);
    EXPECT_TRUE(grant(0)->is_released());
    EXPECT_TRUE(grant(1)->is_released());
    EXPECT_FALSE(grant(2)->is_released());
    mutex.reset();
    EXPECT_TRUE(grant(2)->is_released());
}

TEST_F(MutexAlone, ManyThreadsKeepTheirOwn) {
    SharedMutex shared{node_, "s"};
    std::vector<std::thread> threads;
    for (int number = 0; number < 8; ++number) {
        threads.emplace_back([&] {
            for (int round = 0; round < 200; ++round) {
                shared.lock_shared();
                EXPECT_TRUE(shared.hold().valid());
                shared.unlock_shared();
                EXPECT_FALSE(shared.owned_by_this_thread());
            }
        });
    }
    for (auto& thread : threads)
        thread.join();
    for (const auto& record : script().grants())
        EXPECT_TRUE(record->is_released());
    EXPECT_THAT(script().not_held(), IsEmpty());
}

// --- deadlines

TEST(DeadlineOf, KeepsSteadyMoments) {
    const auto now = std::chrono::steady_clock::now();
    EXPECT_EQ(detail::deadline_of(now), now);
    using Hours = std::chrono::time_point<std::chrono::steady_clock, std::chrono::hours>;
    EXPECT_EQ(detail::deadline_of(Hours::max()), detail::Deadline::max());
    EXPECT_EQ(detail::deadline_of(Hours::min()), detail::Deadline::min());
}

TEST(DeadlineOf, CarriesOtherClocksOver) {
    const auto before = std::chrono::steady_clock::now();
    const auto deadline = detail::deadline_of(std::chrono::system_clock::now() + 1h);
    const auto after = std::chrono::steady_clock::now();
    EXPECT_GT(deadline, before + 50min);
    EXPECT_LT(deadline, after + 70min);
    using Seconds = std::chrono::sys_seconds;
    EXPECT_EQ(detail::deadline_of(Seconds::max()), detail::Deadline::max());
    EXPECT_LT(detail::deadline_of(Seconds::min()), before);
    EXPECT_LT(detail::deadline_of(Seconds{}), before);
    EXPECT_EQ(detail::deadline_of(BootClock::time_point::max()), detail::Deadline::max());
}

// --- two nodes of the process

class MutexOfTwoNodesAlone : public MutexAlone {
protected:
    detail::NodeRuntime& other_script() { return detail::NodeRuntime::of(other_node_); }

    Node other_node_{Config{}};
    Mutex other_{other_node_, "m"};
};

TEST_F(MutexOfTwoNodesAlone, AThreadDoesNotWaitForItself) {
    const std::scoped_lock lock{mutex_};
    EXPECT_EQ(error_of([&] { other_.lock(); }), Errc::deadlock);
    EXPECT_FALSE(other_.try_lock_for(1h));
    EXPECT_THAT(other_script().orders(), IsEmpty());
    elsewhere([&] { const std::scoped_lock granted{other_}; });
}

TEST_F(MutexOfTwoNodesAlone, WhatItUnlockedOrLostIsNoObstacle) {
    mutex_.lock();
    mutex_.unlock();
    other_.lock();
    other_.unlock();
    mutex_.lock();
    lose(1);
    other_.lock();
    other_.unlock();
    mutex_.unlock();
}

TEST_F(MutexOfTwoNodesAlone, ANameOfAnotherClusterIsAnother) {
    other_script().cluster = "b";
    const std::scoped_lock here{mutex_};
    const std::scoped_lock there{other_};
}

TEST_F(MutexOfTwoNodesAlone, ReadersDoNotConflict) {
    SharedMutex reader{node_, "r"};
    SharedMutex other_reader{other_node_, "r"};
    reader.lock_shared();
    other_reader.lock_shared();
    EXPECT_EQ(error_of([&] { Mutex{other_node_, "r"}.lock(); }), Errc::deadlock);
    other_reader.unlock_shared();
    EXPECT_EQ(error_of([&] { other_reader.lock(); }), Errc::deadlock);
    reader.unlock_shared();
}

// It may be the same cluster, and then nobody would end the wait.
TEST_F(MutexOfTwoNodesAlone, AWaitBeforeTheClusterIsKnownLooksAgain) {
    other_script().cluster.clear();
    const std::error_code time_ended;
    other_script().will_answer({time_ended, Errc::no_quorum});
    const std::scoped_lock here{mutex_};
    const std::scoped_lock there{other_};
    const auto orders = other_script().orders();
    ASSERT_EQ(orders.size(), 3U);
    for (const auto& order : orders)
        EXPECT_EQ(order.attempt, detail::Attempt::until);
}

}  // namespace
}  // namespace mortise
