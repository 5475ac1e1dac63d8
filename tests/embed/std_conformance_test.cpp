// What the mutexes of the standard library do, ours do as well: each test runs with both.
#include <atomic>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <type_traits>

#include "tests/embed/one_node.hpp"

namespace mortise {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

// The result of the call on a thread of its own.
template <class Call>
auto elsewhere(const Call& call) {
    return std::async(std::launch::async, call).get();
}

template <class Lock>
class Standard : public OneNode {
protected:
    std::unique_ptr<Lock> make(const char* name) {
        if constexpr (std::is_default_constructible_v<Lock>) {
            return std::make_unique<Lock>();
        } else {
            return std::make_unique<Lock>(node_, name);
        }
    }
    bool is_free() {
        return elsewhere([&] {
            const bool locked = lock_->try_lock();
            if (locked) lock_->unlock();
            return locked;
        });
    }

    const std::unique_ptr<Lock> lock_ = make("a");
    const std::unique_ptr<Lock> second_ = make("b");
};

// --- all of them --------------------------------------------------------------------------------

template <class Lock>
class StandardMutex : public Standard<Lock> {};
using AllMutexes = ::testing::Types<std::timed_mutex, Mutex, std::recursive_timed_mutex,
                                    RecursiveMutex, std::shared_timed_mutex, SharedMutex>;
TYPED_TEST_SUITE(StandardMutex, AllMutexes);

TYPED_TEST(StandardMutex, CanNeitherBeCopiedNorMoved) {
    EXPECT_FALSE(std::is_copy_constructible_v<TypeParam>);
    EXPECT_FALSE(std::is_copy_assignable_v<TypeParam>);
    EXPECT_FALSE(std::is_move_constructible_v<TypeParam>);
    EXPECT_FALSE(std::is_move_assignable_v<TypeParam>);
    EXPECT_TRUE((std::is_same_v<decltype(std::declval<TypeParam&>().lock()), void>));
    EXPECT_TRUE((std::is_same_v<decltype(std::declval<TypeParam&>().unlock()), void>));
    EXPECT_TRUE((std::is_same_v<decltype(std::declval<TypeParam&>().try_lock()), bool>));
}

TYPED_TEST(StandardMutex, ExcludesOtherThreadsUntilItIsUnlocked) {
    this->lock_->lock();
    EXPECT_FALSE(this->is_free());
    this->lock_->unlock();
    EXPECT_TRUE(this->is_free());
    EXPECT_TRUE(this->lock_->try_lock());
    EXPECT_FALSE(this->is_free());
    this->lock_->unlock();
    EXPECT_TRUE(this->is_free());
}

TYPED_TEST(StandardMutex, IsFreeForTheNextOneAtOnce) {
    for (int round = 0; round < 50; ++round) {
        ASSERT_TRUE(this->lock_->try_lock()) << round;
        this->lock_->unlock();
    }
}

TYPED_TEST(StandardMutex, ATimedTryWaitsForItsTimeAndNotLess) {
    this->lock_->lock();
    const auto waited = [&](const auto& attempt) {
        return elsewhere([&] {
            const auto begin = SteadyClock::now();
            EXPECT_FALSE(attempt());
            return SteadyClock::now() - begin;
        });
    };
    EXPECT_GE(waited([&] { return this->lock_->try_lock_for(30ms); }), 30ms);
    EXPECT_GE(waited([&] { return this->lock_->try_lock_until(SteadyClock::now() + 30ms); }), 29ms);
    this->lock_->unlock();
}

TYPED_TEST(StandardMutex, ATimeThatIsOverIsOneAttempt) {
    EXPECT_TRUE(this->lock_->try_lock_for(-1s));
    EXPECT_FALSE(elsewhere([&] { return this->lock_->try_lock_for(0s); }));
    EXPECT_FALSE(elsewhere(
        [&] { return this->lock_->try_lock_until(std::chrono::system_clock::now() - 1h); }));
    this->lock_->unlock();
    // At a time before the start of the machine, std::shared_timed_mutex of libstdc++ aborts.
    EXPECT_TRUE(this->lock_->try_lock_until(SteadyClock::now() - 1s));
    this->lock_->unlock();
}

TYPED_TEST(StandardMutex, ATimedTryGetsWhatIsUnlockedMeanwhile) {
    this->lock_->lock();
    auto waiter = std::async(std::launch::async, [&] {
        const bool locked = this->lock_->try_lock_for(patience);
        if (locked) this->lock_->unlock();
        return locked;
    });
    EXPECT_EQ(waiter.wait_for(10ms), std::future_status::timeout);
    this->lock_->unlock();
    EXPECT_TRUE(waiter.get());
}

TYPED_TEST(StandardMutex, WhatOneThreadWroteTheNextOneReads) {
    int total = 0;  // protected by the lock alone
    const auto add = [&] {
        for (int i = 0; i < 100; ++i) {
            const std::lock_guard guard{*this->lock_};
            ++total;
        }
    };
    {
        const std::jthread one{add};
        const std::jthread other{add};
    }
    EXPECT_EQ(total, 200);
}

TYPED_TEST(StandardMutex, UniqueLockHasAllItsForms) {
    std::unique_lock deferred{*this->lock_, std::defer_lock};
    EXPECT_TRUE(this->is_free());
    deferred.lock();
    EXPECT_FALSE(this->is_free());
    std::unique_lock moved{std::move(deferred)};
    moved.unlock();
    EXPECT_TRUE(moved.try_lock_for(1s));
    moved.release()->unlock();
    this->lock_->lock();
    const std::unique_lock adopted{*this->lock_, std::adopt_lock};
    EXPECT_FALSE(this->is_free());
}

TYPED_TEST(StandardMutex, AnExceptionUnlocksIt) {
    try {
        const std::lock_guard guard{*this->lock_};
        throw 1;
    } catch (int) {
    }
    EXPECT_TRUE(this->is_free());
}

TYPED_TEST(StandardMutex, TwoAreLockedWithoutADeadlock) {
    const auto swap = [&](auto& first, auto& second) {
        for (int i = 0; i < 30; ++i) {
            std::lock(first, second);
            const std::scoped_lock guard{std::adopt_lock, first, second};
        }
    };
    const std::jthread one{[&] { swap(*this->lock_, *this->second_); }};
    swap(*this->second_, *this->lock_);
}

TYPED_TEST(StandardMutex, StdTryLockTakesBothOrNone) {
    this->second_->lock();
    EXPECT_EQ(elsewhere([&] { return std::try_lock(*this->lock_, *this->second_); }), 1);
    EXPECT_TRUE(this->is_free());
    this->second_->unlock();
    EXPECT_EQ(std::try_lock(*this->lock_, *this->second_), -1);
    this->lock_->unlock();
    this->second_->unlock();
}

TYPED_TEST(StandardMutex, AConditionVariableWaitsWithIt) {
    std::condition_variable_any changed;
    bool is_set = false;
    const std::jthread setter{[&] {
        const std::lock_guard guard{*this->lock_};
        is_set = true;
        changed.notify_one();
    }};
    std::unique_lock lock{*this->lock_};
    EXPECT_TRUE(changed.wait_for(lock, patience, [&] { return is_set; }));
}

// --- recursion ----------------------------------------------------------------------------------

template <class Lock>
class StandardRecursion : public Standard<Lock> {};
using RecursiveMutexes = ::testing::Types<std::recursive_timed_mutex, RecursiveMutex>;
TYPED_TEST_SUITE(StandardRecursion, RecursiveMutexes);

TYPED_TEST(StandardRecursion, TheLastUnlockUnlocksIt) {
    this->lock_->lock();
    EXPECT_TRUE(this->lock_->try_lock());
    EXPECT_TRUE(this->lock_->try_lock_for(1ms));
    for (int level = 0; level < 2; ++level) {
        this->lock_->unlock();
        EXPECT_FALSE(this->is_free());
    }
    this->lock_->unlock();
    EXPECT_TRUE(this->is_free());
}

// --- readers ------------------------------------------------------------------------------------

template <class Lock>
class StandardReaders : public Standard<Lock> {};
using SharedMutexes = ::testing::Types<std::shared_timed_mutex, SharedMutex>;
TYPED_TEST_SUITE(StandardReaders, SharedMutexes);

TYPED_TEST(StandardReaders, ShareItAndKeepWritersOut) {
    const std::shared_lock reader{*this->lock_};
    EXPECT_TRUE(elsewhere([&] {
        const std::shared_lock other{*this->lock_, std::try_to_lock};
        return other.owns_lock();
    }));
    EXPECT_TRUE(elsewhere([&] { return std::shared_lock{*this->lock_, 1s}.owns_lock(); }));
    EXPECT_FALSE(this->is_free());
    EXPECT_FALSE(elsewhere([&] { return this->lock_->try_lock_for(1ms); }));
}

TYPED_TEST(StandardReaders, WaitForTheWriter) {
    this->lock_->lock();
    EXPECT_FALSE(elsewhere([&] { return this->lock_->try_lock_shared(); }));
    EXPECT_FALSE(elsewhere([&] { return this->lock_->try_lock_shared_for(1ms); }));
    auto reader = std::async(std::launch::async, [&] {
        this->lock_->lock_shared();
        this->lock_->unlock_shared();
    });
    this->lock_->unlock();
    reader.get();
    EXPECT_TRUE(this->is_free());
}

}  // namespace
}  // namespace mortise
