// What the semaphores, latches and barriers of the standard library do, ours do as well: each test
// runs with both.
#include <atomic>
#include <barrier>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <semaphore>
#include <thread>
#include <type_traits>
#include <vector>

#include "tests/embed/one_node.hpp"

namespace mortise {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

// A permit of ours is a Hold, which gives back itself. This has the holds of all threads, so that
// any of them may give back any permit, as with the standard's.
class CountedPermits {
public:
    CountedPermits(Node& node, std::uint32_t limit) : semaphore_{node, "counted", limit} {}

    void acquire() { keep(semaphore_.acquire()); }
    bool try_acquire() { return kept(semaphore_.try_acquire()); }
    bool try_acquire_for(std::chrono::nanoseconds time) {
        return kept(semaphore_.acquire_for(1, time));
    }
    bool try_acquire_until(SteadyClock::time_point moment) {
        return kept(semaphore_.acquire_until(1, moment));
    }
    void release(std::ptrdiff_t n = 1) {
        for (; n > 0; --n) {
            const std::scoped_lock lock{mutex_};
            EXPECT_FALSE(holds_.back().release());
            holds_.pop_back();
        }
    }

private:
    void keep(Hold hold) {
        const std::scoped_lock lock{mutex_};
        holds_.push_back(std::move(hold));
    }
    bool kept(std::optional<Hold> hold) {
        if (hold) keep(*std::move(hold));
        return hold.has_value();
    }

    Semaphore semaphore_;
    std::mutex mutex_;
    std::vector<Hold> holds_;
};

// --- semaphores ---------------------------------------------------------------------------------

template <class Counting>
class StandardSemaphore : public OneNode {
protected:
    static std::unique_ptr<Counting> make(Node& node, int permits) {
        if constexpr (std::is_same_v<Counting, CountedPermits>) {
            return std::make_unique<Counting>(node, static_cast<std::uint32_t>(permits));
        } else {
            return std::make_unique<Counting>(permits);
        }
    }

    const std::unique_ptr<Counting> two_ = make(node_, 2);
};
using Semaphores = ::testing::Types<std::counting_semaphore<>, CountedPermits>;
TYPED_TEST_SUITE(StandardSemaphore, Semaphores);

TYPED_TEST(StandardSemaphore, HasSoManyPermits) {
    this->two_->acquire();
    EXPECT_TRUE(this->two_->try_acquire());
    EXPECT_FALSE(this->two_->try_acquire());
    this->two_->release(2);
    EXPECT_TRUE(this->two_->try_acquire());
    EXPECT_TRUE(this->two_->try_acquire());
    EXPECT_FALSE(this->two_->try_acquire());
    this->two_->release();
    EXPECT_TRUE(this->two_->try_acquire());
    this->two_->release(2);
}

TYPED_TEST(StandardSemaphore, ATimedTryWaitsForItsTimeAndNotLess) {
    this->two_->acquire();
    this->two_->acquire();
    const auto waited = [&](const auto& attempt) {
        const auto begin = SteadyClock::now();
        EXPECT_FALSE(attempt());
        return SteadyClock::now() - begin;
    };
    EXPECT_GE(waited([&] { return this->two_->try_acquire_for(30ms); }), 30ms);
    EXPECT_GE(waited([&] { return this->two_->try_acquire_until(SteadyClock::now() + 30ms); }),
              29ms);
    this->two_->release(2);
}

TYPED_TEST(StandardSemaphore, ATimeThatIsOverIsOneAttempt) {
    EXPECT_TRUE(this->two_->try_acquire_for(-1s));
    EXPECT_TRUE(this->two_->try_acquire_until(SteadyClock::now() - 1h));
    EXPECT_FALSE(this->two_->try_acquire_for(0s));
    this->two_->release(2);
}

TYPED_TEST(StandardSemaphore, WhoWaitsGetsWhatComesBack) {
    this->two_->acquire();
    this->two_->acquire();
    auto blocked = std::async(std::launch::async, [&] { this->two_->acquire(); });
    auto timed =
        std::async(std::launch::async, [&] { return this->two_->try_acquire_for(patience); });
    EXPECT_EQ(blocked.wait_for(10ms), std::future_status::timeout);
    EXPECT_EQ(timed.wait_for(0s), std::future_status::timeout);
    this->two_->release();
    this->two_->release();
    blocked.get();
    EXPECT_TRUE(timed.get());
    this->two_->release(2);
}

TYPED_TEST(StandardSemaphore, AnotherThreadMayGiveAPermitBack) {
    this->two_->acquire();
    this->two_->acquire();
    std::jthread{[&] { this->two_->release(); }}.join();
    EXPECT_TRUE(this->two_->try_acquire_for(patience));
    this->two_->release(2);
}

TYPED_TEST(StandardSemaphore, NeverHasMoreHoldersThanPermits) {
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    const auto work = [&] {
        for (int i = 0; i < 30; ++i) {
            this->two_->acquire();
            const int now = ++inside;
            int seen = most;
            while (seen < now && !most.compare_exchange_weak(seen, now)) {
            }
            --inside;
            this->two_->release();
        }
    };
    {
        std::vector<std::jthread> workers;
        for (int i = 0; i < 4; ++i)
            workers.emplace_back(work);
    }
    EXPECT_LE(most, 2);
    EXPECT_TRUE(this->two_->try_acquire());
    EXPECT_TRUE(this->two_->try_acquire());
    this->two_->release(2);
}

// --- latches ------------------------------------------------------------------------------------

template <class OneShot>
class StandardLatch : public OneNode {
protected:
    std::unique_ptr<OneShot> make(std::ptrdiff_t expected) {
        if constexpr (std::is_constructible_v<OneShot, Node&, const char*, std::ptrdiff_t>) {
            return std::make_unique<OneShot>(node_, "latch", expected);
        } else {
            return std::make_unique<OneShot>(expected);
        }
    }
};
using Latches = ::testing::Types<std::latch, Latch>;
TYPED_TEST_SUITE(StandardLatch, Latches);

TYPED_TEST(StandardLatch, IsOpenWhenAllIsCounted) {
    const auto latch = this->make(3);
    EXPECT_FALSE(latch->try_wait());
    latch->count_down();
    latch->count_down(0);
    EXPECT_FALSE(latch->try_wait());
    latch->count_down(2);
    EXPECT_TRUE(latch->try_wait());
    latch->wait();
    latch->wait();
}

TYPED_TEST(StandardLatch, OfNothingIsOpen) {
    const auto latch = this->make(0);
    EXPECT_TRUE(latch->try_wait());
    latch->wait();
}

TYPED_TEST(StandardLatch, LetsAllPassAtOnce) {
    const auto latch = this->make(1);
    std::vector<std::future<void>> waits;
    for (int i = 0; i < 3; ++i)
        waits.push_back(std::async(std::launch::async, [&] { latch->wait(); }));
    EXPECT_EQ(waits.back().wait_for(10ms), std::future_status::timeout);
    latch->count_down();
    for (auto& one : waits)
        one.get();
}

TYPED_TEST(StandardLatch, WhoeverArrivesLastWaitsForNobody) {
    const auto latch = this->make(3);
    auto first = std::async(std::launch::async, [&] { latch->arrive_and_wait(); });
    EXPECT_EQ(first.wait_for(10ms), std::future_status::timeout);
    latch->arrive_and_wait(2);
    first.get();
}

TYPED_TEST(StandardLatch, WhatWasWrittenBeforeACountIsReadBehindTheWait) {
    const auto latch = this->make(2);
    int one = 0;  // ordered by the latch alone
    int other = 0;
    const std::jthread first{[&] {
        one = 1;
        latch->count_down();
    }};
    const std::jthread second{[&] {
        other = 2;
        latch->count_down();
    }};
    latch->wait();
    EXPECT_EQ(one + other, 3);
}

// --- barriers -----------------------------------------------------------------------------------

template <class Cyclic>
class StandardBarrier : public OneNode {
protected:
    std::unique_ptr<Cyclic> make(std::ptrdiff_t parties) {
        if constexpr (std::is_constructible_v<Cyclic, Node&, const char*, std::ptrdiff_t>) {
            return std::make_unique<Cyclic>(node_, "barrier", parties);
        } else {
            return std::make_unique<Cyclic>(parties);
        }
    }
};
using Barriers = ::testing::Types<std::barrier<>, Barrier>;
TYPED_TEST_SUITE(StandardBarrier, Barriers);

TYPED_TEST(StandardBarrier, OfOnePartyNeverWaits) {
    const auto barrier = this->make(1);
    for (int phase = 0; phase < 3; ++phase)
        barrier->arrive_and_wait();
}

TYPED_TEST(StandardBarrier, NobodyIsAPhaseAhead) {
    constexpr int parties = 3;
    constexpr int phases = 8;
    const auto barrier = this->make(parties);
    std::atomic<int> arrived{0};
    const auto party = [&] {
        int early = 0;
        for (int phase = 1; phase <= phases; ++phase) {
            ++arrived;
            barrier->arrive_and_wait();
            early += arrived < phase * parties ? 1 : 0;
        }
        return early;
    };
    std::vector<std::future<int>> all;
    for (int i = 0; i < parties; ++i)
        all.push_back(std::async(std::launch::async, party));
    for (auto& one : all)
        EXPECT_EQ(one.get(), 0);
}

TYPED_TEST(StandardBarrier, WaitsForTheLastParty) {
    const auto barrier = this->make(2);
    auto first = std::async(std::launch::async, [&] { barrier->arrive_and_wait(); });
    EXPECT_EQ(first.wait_for(10ms), std::future_status::timeout);
    barrier->arrive_and_wait();
    first.get();
}

TYPED_TEST(StandardBarrier, WhoDropsIsMissedNoMore) {
    const auto barrier = this->make(2);
    auto first = std::async(std::launch::async, [&] { barrier->arrive_and_wait(); });
    EXPECT_EQ(first.wait_for(10ms), std::future_status::timeout);
    barrier->arrive_and_drop();
    first.get();
    barrier->arrive_and_wait();  // alone
}

TYPED_TEST(StandardBarrier, WhatWasWrittenInAPhaseIsReadInTheNext) {
    const auto barrier = this->make(2);
    int written = 0;  // ordered by the barrier alone
    const std::jthread writer{[&] {
        written = 1;
        barrier->arrive_and_wait();
        barrier->arrive_and_wait();
    }};
    barrier->arrive_and_wait();
    EXPECT_EQ(written, 1);
    barrier->arrive_and_wait();
}

}  // namespace
}  // namespace mortise
