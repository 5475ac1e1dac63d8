// Mutex and SharedMutex as programs use them: through the locks of the standard library.
#include <atomic>
#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "tests/embed/one_node.hpp"
#include <mortise/testkit.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;

class MutexOnANode : public OneNode {
protected:
    Mutex mutex_{node_, "m"};
};

TEST_F(MutexOnANode, ExcludesTheThreadsThatUseScopedLock) {
    int inside = 0;  // protected only by the mutex
    int rounds = 0;
    std::vector<std::thread> threads;
    for (int number = 0; number < 4; ++number) {
        threads.emplace_back([&] {
            for (int round = 0; round < 25; ++round) {
                const std::scoped_lock lock{mutex_};
                EXPECT_EQ(++inside, 1);
                ++rounds;
                --inside;
            }
        });
    }
    for (auto& thread : threads)
        thread.join();
    EXPECT_EQ(rounds, 100);
}

TEST_F(MutexOnANode, ExcludesEveryObjectOfTheName) {
    const std::scoped_lock lock{mutex_};
    std::thread{[&] {
        Mutex other{node_, "m"};
        EXPECT_FALSE(other.try_lock());
        EXPECT_FALSE(node_.try_acquire("m"));
    }}.join();
    EXPECT_TRUE(mutex_.hold().valid());
    EXPECT_GT(mutex_.hold().token(), FencingToken{});
}

TEST_F(MutexOnANode, UniqueLockTriesAndWaits) {
    std::unique_lock lock{mutex_, std::try_to_lock};
    ASSERT_TRUE(lock.owns_lock());
    std::thread{[&] {
        EXPECT_FALSE((std::unique_lock{mutex_, std::try_to_lock}.owns_lock()));
        EXPECT_FALSE((std::unique_lock{mutex_, 5ms}.owns_lock()));
        EXPECT_FALSE((std::unique_lock{mutex_, std::chrono::system_clock::now() + 5ms}));
    }}.join();
    lock.unlock();
    std::thread{[&] { EXPECT_TRUE((std::unique_lock{mutex_, patience}.owns_lock())); }}.join();
}

TEST_F(MutexOnANode, AWaitingLockIsGrantedWhenTheHolderUnlocks) {
    mutex_.lock();
    std::thread waiter{[&] {
        const std::scoped_lock lock{mutex_};
        EXPECT_TRUE(mutex_.hold().valid());
    }};
    EXPECT_TRUE(wait_for_waiters("m", 1));
    mutex_.unlock();
    waiter.join();
}

TEST_F(MutexOnANode, ScopedLockTakesTwoInAnyOrder) {
    Mutex second{node_, "second"};
    std::vector<std::thread> threads;
    int rounds = 0;
    for (int number = 0; number < 2; ++number) {
        threads.emplace_back([&, number] {
            for (int round = 0; round < 20; ++round) {
                auto& first = number == 0 ? mutex_ : second;
                auto& other = number == 0 ? second : mutex_;
                const std::scoped_lock lock{first, other};
                ++rounds;
            }
        });
    }
    for (auto& thread : threads)
        thread.join();
    EXPECT_EQ(rounds, 40);
}

TEST_F(MutexOnANode, AConditionVariableWaitsWithIt) {
    std::condition_variable_any changed;
    bool said = false;
    std::thread speaker{[&] {
        const std::scoped_lock lock{mutex_};
        said = true;
        changed.notify_one();
    }};
    std::unique_lock lock{mutex_};
    EXPECT_TRUE(changed.wait_for(lock, patience, [&] { return said; }));
    EXPECT_TRUE(mutex_.hold().valid());
    lock.unlock();
    speaker.join();
}

TEST_F(MutexOnANode, ReadersShareAndWritersDoNot) {
    SharedMutex mutex{node_, "shared"};
    std::shared_lock reader{mutex};
    std::thread{[&] {
        EXPECT_TRUE((std::shared_lock{mutex, std::try_to_lock}.owns_lock()));
        EXPECT_TRUE((std::shared_lock{mutex, patience}.owns_lock()));
        EXPECT_TRUE((std::shared_lock{mutex, std::chrono::system_clock::now() + patience}));
        EXPECT_FALSE(mutex.try_lock());
        EXPECT_FALSE(mutex.try_lock_for(5ms));
    }}.join();
    reader.unlock();
    const std::scoped_lock writer{mutex};
    std::thread{[&] { EXPECT_FALSE(mutex.try_lock_shared()); }}.join();
}

TEST_F(MutexOnANode, ASecondLockIsADeadlock) {
    const std::scoped_lock lock{mutex_};
    try {
        mutex_.lock();
        FAIL() << "it locked twice";
    } catch (const LockError& error) {
        EXPECT_EQ(error.code(), Errc::deadlock);
        EXPECT_EQ(error.detail().name, "m");
    }
}

TEST_F(MutexOnANode, AForeignUnlockIsReported) {
    std::promise<NodeEvent> told;
    const auto subscription = node_.on_event([&](const NodeEvent& event) {
        if (event.kind == NodeEvent::Kind::not_held) told.set_value(event);
    });
    const std::scoped_lock lock{mutex_};
    std::thread{[&] { mutex_.unlock(); }}.join();
    auto event = told.get_future();
    ASSERT_EQ(event.wait_for(patience), std::future_status::ready);
    EXPECT_EQ(event.get().name, "m");
    EXPECT_TRUE(mutex_.hold().valid());
}

// S22: the next owner has it through the same object.
TEST_F(MutexOnANode, AThreadThatLostItReleasesNothing) {
    mutex_.lock();
    node_.break_lock("m", mutex_.hold().token(), "stuck");
    ASSERT_TRUE(is_lost(mutex_.hold()));
    std::latch is_locked{1};
    std::latch goes_on{1};
    FencingToken newest;
    std::jthread next{[&] {
        const std::scoped_lock lock{mutex_};
        newest = mutex_.hold().token();
        is_locked.count_down();
        goes_on.wait();
        EXPECT_TRUE(mutex_.hold().valid());
    }};
    is_locked.wait();
    mutex_.unlock();
    EXPECT_FALSE(mutex_.owned_by_this_thread());
    const auto lock = node_.inspect("m");
    EXPECT_TRUE(lock.is_held() && lock.holders.front().token == newest);
    goes_on.count_down();
}

TEST_F(MutexOnANode, WhatAThreadForgotOthersGetWhenItEnds) {
    std::thread{[&] { mutex_.lock(); }}.join();
    EXPECT_TRUE(mutex_.try_lock_for(patience));
    mutex_.unlock();
}

TEST_F(MutexOnANode, WhatAnObjectHadIsFreeWhenItGoes) {
    {
        Mutex brief{node_, "brief"};
        brief.lock();
    }
    EXPECT_TRUE(node_.acquire_for("brief", patience));
}

TEST_F(MutexOnANode, CancelEndsAWaitingLock) {
    std::stop_source stop;
    Mutex cancellable{node_, "m", {.cancel = stop.get_token()}};
    const std::scoped_lock lock{mutex_};
    auto error = std::async(std::launch::async, [&]() -> std::error_code {
        try {
            cancellable.lock();
            return {};
        } catch (const LockError& refused) {
            return refused.code();
        }
    });
    EXPECT_TRUE(wait_for_waiters("m", 1));
    stop.request_stop();
    EXPECT_EQ(error.get(), Errc::cancelled);
}

TEST_F(MutexOnANode, CloseEndsWhoWaitsAndWhoHolds) {
    mutex_.lock();
    auto error = std::async(std::launch::async, [&]() -> std::error_code {
        try {
            mutex_.lock();
            return {};
        } catch (const LockError& refused) {
            return refused.code();
        }
    });
    EXPECT_TRUE(wait_for_waiters("m", 1));
    node_.close();
    EXPECT_EQ(error.get(), Errc::node_stopped);
    EXPECT_FALSE(mutex_.hold().valid());
    EXPECT_EQ(mutex_.hold().why_lost(), LossReason::node_stopped);
    mutex_.unlock();
    EXPECT_FALSE(mutex_.owned_by_this_thread());
    EXPECT_THROW(mutex_.lock(), LockError);
    EXPECT_THROW(std::ignore = mutex_.try_lock(), LockError);
}

TEST(MutexOfANode, OutlivesIt) {
    auto node = std::make_unique<Node>(Config::in_memory());
    Mutex mutex{*node, "m"};
    mutex.lock();
    node.reset();
    EXPECT_FALSE(mutex.hold().valid());
    mutex.unlock();
    EXPECT_THROW(mutex.lock(), LockError);
}

// Nobody else can end such a wait.
TEST(MutexOfTwoNodes, ASecondLockOfAThreadIsADeadlock) {
    testkit::LocalCluster cluster{3};
    Mutex first{cluster.node(0), "m"};
    Mutex second{cluster.node(1), "m"};
    SharedMutex reader{cluster.node(1), "m"};
    const std::scoped_lock lock{first};
    const auto refuses = [](auto act) {
        try {
            act();
            ADD_FAILURE() << "it did not throw";
        } catch (const LockError& error) {
            EXPECT_EQ(error.code(), Errc::deadlock);
            EXPECT_THAT(error.what(), ::testing::HasSubstr("another node of this process"));
        }
    };
    refuses([&] { second.lock(); });
    refuses([&] { reader.lock_shared(); });
    EXPECT_FALSE(second.try_lock_for(1h));
    EXPECT_FALSE(second.try_lock());
}

TEST(MutexOfTwoNodes, ReadersAndOtherThreadsGoOn) {
    testkit::LocalCluster cluster{3};
    SharedMutex first{cluster.node(0), "m"};
    SharedMutex second{cluster.node(1), "m"};
    first.lock_shared();
    second.lock_shared();
    second.unlock_shared();
    auto writer = std::async([&] { const std::scoped_lock lock{second}; });
    EXPECT_EQ(writer.wait_for(50ms), std::future_status::timeout);
    first.unlock_shared();
    writer.get();
}

TEST(MutexOfTwoNodes, NamesOfTwoClustersAreTwo) {
    Node first{Config::in_memory()};
    Node second{Config::in_memory()};  // perhaps not ready yet
    Mutex here{first, "m"};
    Mutex there{second, "m"};
    const std::scoped_lock one{here};
    const std::scoped_lock two{there};
    EXPECT_TRUE(here.hold().valid());
    EXPECT_TRUE(there.hold().valid());
}

TEST(MutexOfANode, LocksBeforeTheClusterIsReady) {
    Node node{Config::in_memory()};
    Mutex mutex{node, "m"};
    const std::scoped_lock lock{mutex};
    EXPECT_TRUE(mutex.hold().valid());
}

}  // namespace
}  // namespace mortise
