// Cached grants, as programs on several nodes see them (S39-S45).
#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <asio/use_future.hpp>
#include <gtest/gtest.h>

#include "tests/embed/one_node.hpp"
#include <mortise/async.hpp>
#include <mortise/testkit/local_cluster.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

const AcquireOptions to_read{.mode = LockMode::shared};

// Takes the name twice in a row, so that the node caches it, and releases it.
FencingToken cache(Node& node, const char* name, const AcquireOptions& options = {}) {
    FencingToken token;
    for (int times = 0; times < 2; ++times) {
        auto hold = node.acquire(name, options);
        token = hold.token();
        EXPECT_FALSE(hold.release());
    }
    return token;
}

std::uint64_t served(const Node& node) {
    return node.metrics().served_from_cache;
}

template <class Condition>
bool comes_true(const Condition& condition) {
    const auto give_up = Clock::now() + patience;
    while (!condition()) {
        if (Clock::now() > give_up) return false;
        std::this_thread::sleep_for(1ms);
    }
    return true;
}

// --- one node

class Cached : public OneNode {};

TEST_F(Cached, S39_TheThirdAcquireInARowNeedsNoCluster) {
    const auto token = cache(node_, "x", {.label = "before"});
    EXPECT_EQ(served(node_), 0U);
    const auto entries = node_.metrics().entries_applied;
    auto again = node_.acquire("x");
    EXPECT_EQ(served(node_), 1U);
    EXPECT_EQ(node_.metrics().entries_applied, entries);
    EXPECT_TRUE(again.valid());
    EXPECT_GT(again.token(), token);
    EXPECT_EQ(again.previous().how, Predecessor::clean);
    EXPECT_EQ(again.previous().label, "before");
    EXPECT_EQ(again.previous().token, token);
    EXPECT_FALSE(again.release());
    EXPECT_EQ(again.state(), HoldState::released);
}

// A lent grant is taken before the labels are compared.
TEST_F(Cached, S23_UsersWithDifferentLabelsAreEachOthersPredecessors) {
    cache(node_, "x", {.label = "b"});
    auto former = node_.acquire("x", {.label = "a"});
    for (int times = 0; times < 20; ++times) {
        const std::string label = times % 2 == 0 ? "b" : "a";
        const auto token = former.token();
        EXPECT_FALSE(former.release());
        auto hold = node_.acquire("x", {.label = label});
        EXPECT_EQ(hold.previous().token, token);
        EXPECT_EQ(hold.previous().label, label == "a" ? "b" : "a");
        former = std::move(hold);
    }
    EXPECT_EQ(served(node_), 21U);
}

TEST_F(Cached, S39_TokensRiseAcrossManyUses) {  // P1
    FencingToken newest;
    for (int times = 0; times < 10'000; ++times) {
        auto hold = node_.acquire("x");
        ASSERT_GT(hold.token(), newest);
        newest = hold.token();
    }
    EXPECT_GT(served(node_), 9'900U);
}

TEST_F(Cached, S43_IsListedAsCached) {
    cache(node_, "x");
    const auto idle = node_.inspect("x");
    ASSERT_EQ(idle.holders.size(), 1U);
    EXPECT_TRUE(idle.holders.front().cached);
    auto other = node_.acquire("y");
    EXPECT_FALSE(node_.inspect("y").holders.front().cached);
}

TEST_F(Cached, S43_CachingIsOffWhereItIsOff) {
    cache(node_, "x", {.caching = Caching::off});
    EXPECT_TRUE(node_.inspect("x").holders.empty());
    cache(node_, "y", {.max_hold = 10s});
    EXPECT_TRUE(node_.inspect("y").holders.empty());
    EXPECT_EQ(served(node_), 0U);
}

TEST_F(Cached, S43_AnUnusedGrantGoesBack) {
    cache(node_, "x");
    EXPECT_TRUE(comes_true([&] { return node_.inspect("x").holders.empty(); }));
}

TEST_F(Cached, S43_TheNameOfAValueIsNotCached) {
    cache(node_, "x");
    auto hold = node_.acquire("x");
    ASSERT_EQ(served(node_), 1U);
    hold.set_value("one");
    EXPECT_FALSE(node_.inspect("x").holders.front().cached);
    EXPECT_EQ(node_.inspect("x").holders.front().token, hold.token());
    EXPECT_FALSE(hold.release());
    EXPECT_TRUE(node_.inspect("x").holders.empty());
    cache(node_, "x");
    EXPECT_TRUE(node_.inspect("x").holders.empty());
}

TEST_F(Cached, S27_AUseIsConvertedAsAnyHold) {
    cache(node_, "x");
    auto hold = node_.acquire("x");
    ASSERT_EQ(served(node_), 1U);
    const auto token = hold.token();
    hold.downgrade(LockMode::shared);
    EXPECT_EQ(hold.token(), token);
    auto reader = node_.try_acquire("x", to_read);
    ASSERT_TRUE(reader);
    EXPECT_FALSE(reader->release());
    hold.upgrade();
    EXPECT_EQ(hold.mode(), LockMode::exclusive);
    EXPECT_GT(hold.token(), token);
    EXPECT_FALSE(hold.release());
    EXPECT_TRUE(node_.try_acquire("x").has_value());
}

TEST_F(Cached, S44_ReadersOfOneNodeHaveAGrantEach) {
    cache(node_, "x", to_read);
    auto one = node_.acquire("x", to_read);
    EXPECT_EQ(served(node_), 1U);
    auto two = node_.acquire("x", to_read);
    EXPECT_EQ(served(node_), 1U);
    EXPECT_EQ(one.token(), two.token());
    EXPECT_EQ(node_.inspect("x").holders.size(), 2U);
}

TEST_F(Cached, AHandlerIsServedAsWell) {
    cache(node_, "x");
    auto hold = async_acquire(node_, "x", asio::use_future).get();
    EXPECT_EQ(served(node_), 1U);
    EXPECT_TRUE(hold.valid());
}

TEST_F(Cached, ALockerIsServedAsWell) {
    const Locker mine{node_, "mine"};
    cache(node_, "x", {.locker = mine});
    auto hold = node_.acquire("x", {.locker = mine});
    EXPECT_EQ(served(node_), 1U);
    auto nested = node_.acquire("x", {.locker = mine});
    EXPECT_EQ(nested.token(), hold.token());
    EXPECT_EQ(mine.hold_count(), 2U);
    hold.unlock();
    EXPECT_TRUE(nested.valid());
    nested.unlock();
    EXPECT_TRUE(node_.acquire("x", {.locker = mine}).valid());
}

TEST_F(Cached, AMutexIsServedAsWell) {
    Mutex mutex{node_, "x"};
    for (int times = 0; times < 100; ++times) {
        const std::scoped_lock lock{mutex};
        ASSERT_TRUE(mutex.hold().valid());
    }
    EXPECT_GE(served(node_), 98U);
}

TEST_F(Cached, ThreadsThatShareANameExcludeEachOther) {
    cache(node_, "x");
    int inside = 0;
    int most = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int times = 0; times < 50; ++times) {
                const auto hold = node_.acquire("x");
                most = std::max(most, ++inside);
                --inside;
            }
        });
    }
    for (auto& thread : threads)
        thread.join();
    EXPECT_EQ(most, 1);
}

TEST_F(Cached, AStoppedNodeServesNothing) {
    cache(node_, "x");
    node_.close();
    std::error_code ec;
    EXPECT_FALSE(node_.acquire("x", {}, ec).valid());
    EXPECT_EQ(ec, Errc::node_stopped);
}

TEST_F(Cached, S24_ABreakTakesAUseAway) {
    cache(node_, "x");
    auto hold = node_.acquire("x");
    ASSERT_EQ(served(node_), 1U);
    node_.break_lock("x", hold.token(), "test");
    EXPECT_TRUE(is_lost(hold));
    EXPECT_EQ(hold.why_lost(), LossReason::broken);
    EXPECT_FALSE(hold.valid());
}

TEST_F(Cached, S6_TheOwnerOfAReleasedUseIsNotToldOfALaterLoss) {
    cache(node_, "x");
    auto before = node_.acquire("x");
    const auto lost = before.lost();
    EXPECT_FALSE(before.release());
    auto hold = node_.acquire("x");
    ASSERT_EQ(served(node_), 2U);
    node_.break_lock("x", hold.token(), "test");
    EXPECT_TRUE(is_lost(hold));
    EXPECT_FALSE(lost.stop_requested());
}

TEST_F(Cached, S31_ARequestWithAPolicyIsTheClustersToDecide) {
    cache(node_, "x", {.queue_policy = QueuePolicy::fifo});
    EXPECT_EQ(served(node_), 0U);
    EXPECT_TRUE(node_.inspect("x").holders.empty());
}

TEST_F(Cached, AnUnusedGrantThatIsBrokenIsNobodysLoss) {
    cache(node_, "x");
    node_.break_lock("x", node_.inspect("x").holders.front().token, "test");
    EXPECT_TRUE(comes_true([&] { return node_.inspect("x").holders.empty(); }));
    EXPECT_EQ(node_.metrics().holds_lost, 0U);
    EXPECT_TRUE(node_.acquire("x").valid());
}

// --- callers of one node (S41)

// Makes the name one that is cached, and holds it.
Hold hold_cached(Node& node, const char* name) {
    cache(node, name);
    auto hold = node.acquire(name);
    EXPECT_GT(served(node), 0U);
    return hold;
}

TEST_F(Cached, S41_AReleaseHandsTheLockToTheNextCallerOfTheNode) {
    auto hold = hold_cached(node_, "x");
    const auto before = served(node_);
    auto next = async_acquire(node_, "x", asio::use_future);
    EXPECT_EQ(next.wait_for(10ms), std::future_status::timeout);
    const auto entries = node_.metrics().entries_applied;
    const auto token = hold.token();
    hold.unlock();
    auto handed = next.get();
    EXPECT_GT(handed.token(), token);
    EXPECT_EQ(handed.previous().token, token);
    EXPECT_EQ(served(node_), before + 1);
    EXPECT_EQ(node_.metrics().entries_applied, entries);
}

TEST_F(Cached, S41_ThreadsThatContendAreServedWithoutTheCluster) {
    constexpr int threads = 4;
    constexpr int times = 500;
    hold_cached(node_, "x").unlock();
    std::atomic<int> inside = 0;
    FencingToken newest;
    std::vector<std::jthread> all;
    for (int thread = 0; thread < threads; ++thread) {
        all.emplace_back([&] {
            for (int time = 0; time < times; ++time) {
                const auto hold = node_.acquire("x");
                EXPECT_EQ(++inside, 1);
                EXPECT_GT(hold.token(), newest);
                newest = hold.token();
                --inside;
            }
        });
    }
    all.clear();
    EXPECT_GT(served(node_), threads * times * 9 / 10);
}

TEST_F(Cached, S48_ACallerInTheLocalQueueGivesUpInTime) {  // P6
    auto hold = hold_cached(node_, "x");
    const auto began = Clock::now();
    EXPECT_FALSE(node_.acquire_for("x", 20ms));
    EXPECT_GE(Clock::now() - began, 20ms);
    EXPECT_FALSE(node_.try_acquire("x"));
    std::error_code ec;
    EXPECT_FALSE(node_.acquire("x", {.wait_max = 20ms}, ec).valid());
    EXPECT_EQ(ec, Errc::timed_out);
}

TEST_F(Cached, S48_ACallerInTheLocalQueueIsCancelled) {  // P6
    auto hold = hold_cached(node_, "x");
    std::stop_source stop;
    std::error_code ec;
    std::jthread waits{
        [&] { EXPECT_FALSE(node_.acquire("x", {.cancel = stop.get_token()}, ec).valid()); }};
    std::this_thread::sleep_for(5ms);
    stop.request_stop();
    waits.join();
    EXPECT_EQ(ec, Errc::cancelled);
    hold.unlock();
    EXPECT_TRUE(node_.try_acquire("x"));
}

TEST_F(Cached, S41_ACallerThatHasWaitedForLongIsInTheQueueOfTheCluster) {
    auto hold = hold_cached(node_, "x");
    auto next = async_acquire(node_, "x", asio::use_future);
    EXPECT_TRUE(comes_true([&] { return node_.inspect("x").waiters.size() == 1; }));
    hold.unlock();
    EXPECT_TRUE(next.get().valid());
}

TEST_F(Cached, P11_ClosingTheNodeAnswersTheCallersInTheLocalQueue) {
    auto hold = hold_cached(node_, "x");
    auto next = async_acquire(node_, "x", asio::use_future);
    node_.close();
    EXPECT_THROW(static_cast<void>(next.get()), std::exception);
}

TEST_F(Cached, S41_MutexesOfThreadsThatContend) {
    int counter = 0;
    std::vector<std::jthread> all;
    for (int thread = 0; thread < 3; ++thread) {
        all.emplace_back([&] {
            Mutex mutex{node_, "x"};
            for (int time = 0; time < 300; ++time) {
                const std::scoped_lock lock{mutex};
                ++counter;
            }
        });
    }
    all.clear();
    EXPECT_EQ(counter, 900);
    EXPECT_GT(served(node_), 800U);
}

// --- a mutex that its thread locks again

class CachedMutex : public Cached {
protected:
    static void lock_some_times(Mutex& mutex) {
        for (int times = 0; times < 4; ++times)
            const std::scoped_lock lock{mutex};
    }
};

TEST_F(CachedMutex, S39_IsLockedAgainWithANewToken) {
    Mutex mutex{node_, "x"};
    lock_some_times(mutex);
    const auto before = served(node_);
    FencingToken newest;
    for (int times = 0; times < 10; ++times) {
        mutex.lock();
        EXPECT_TRUE(mutex.owned_by_this_thread());
        EXPECT_TRUE(mutex.hold().valid());
        EXPECT_GT(mutex.hold().token(), newest);
        newest = mutex.hold().token();
        mutex.unlock();
        EXPECT_FALSE(mutex.owned_by_this_thread());
        EXPECT_FALSE(mutex.hold());
    }
    EXPECT_EQ(served(node_), before + 10);
    EXPECT_TRUE(mutex.try_lock());
    mutex.unlock();
    EXPECT_TRUE(mutex.try_lock_for(1s));
    mutex.unlock();
}

TEST_F(CachedMutex, S20_AThreadCannotLockItsNameThroughAnotherObject) {
    Mutex mutex{node_, "x"};
    Mutex other{node_, "x"};
    lock_some_times(mutex);
    lock_some_times(other);
    lock_some_times(mutex);
    const std::scoped_lock lock{mutex};
    EXPECT_FALSE(other.try_lock());
    EXPECT_THROW(other.lock(), LockError);
    EXPECT_THROW(mutex.lock(), LockError);
    EXPECT_TRUE(mutex.owned_by_this_thread());
}

TEST_F(CachedMutex, AnotherThreadDoesNotUnlockIt) {
    Mutex mutex{node_, "x"};
    lock_some_times(mutex);
    mutex.lock();
    std::jthread{[&] {
        EXPECT_FALSE(mutex.owned_by_this_thread());
        EXPECT_FALSE(mutex.try_lock());
        mutex.unlock();
    }}.join();
    EXPECT_TRUE(mutex.hold().valid());
    mutex.unlock();
    mutex.unlock();  // the only effect is an event
    std::jthread{[&] {
        EXPECT_TRUE(mutex.try_lock());
        mutex.unlock();
    }}.join();
    EXPECT_TRUE(mutex.try_lock());
    mutex.unlock();
}

TEST_F(CachedMutex, IsUnlockedByTheEndOfItsThread) {
    Mutex mutex{node_, "x"};
    std::jthread{[&] {
        lock_some_times(mutex);
        mutex.lock();
    }}.join();
    EXPECT_TRUE(mutex.try_lock_for(patience));
    mutex.unlock();
}

TEST_F(CachedMutex, IsUnlockedByItsDestruction) {
    auto mutex = std::make_unique<Mutex>(node_, "x");
    lock_some_times(*mutex);
    mutex->lock();
    mutex.reset();
    Mutex next{node_, "x"};
    EXPECT_TRUE(next.try_lock_for(patience));
    lock_some_times(*std::make_unique<Mutex>(node_, "y"));
    next.unlock();
}

TEST_F(CachedMutex, ManyOfOneThreadAreLockedInTurn) {
    std::vector<std::unique_ptr<Mutex>> all;
    for (int number = 0; number < 20; ++number)
        all.push_back(std::make_unique<Mutex>(node_, "x" + std::to_string(number)));
    for (int times = 0; times < 5; ++times) {
        for (const auto& mutex : all) {
            mutex->lock();
            EXPECT_TRUE(mutex->hold().valid());
            mutex->unlock();
            EXPECT_FALSE(mutex->owned_by_this_thread());
        }
    }
    all.erase(all.begin(), all.begin() + 10);
    for (const auto& mutex : all) {
        const std::scoped_lock lock{*mutex};
        EXPECT_TRUE(mutex->hold().valid());
    }
}

TEST_F(CachedMutex, S6_ItsLossIsNoticedAndItIsLockedAgain) {
    Mutex mutex{node_, "x"};
    lock_some_times(mutex);
    mutex.lock();
    const auto lost = mutex.hold().lost();
    node_.break_lock("x", node_.inspect("x").holders.front().token, "test");
    EXPECT_TRUE(comes_true([&] { return lost.stop_requested(); }));
    mutex.lock();
    EXPECT_TRUE(mutex.hold().valid());
    mutex.unlock();
    lock_some_times(mutex);
}

TEST_F(CachedMutex, S6_AfterALossItIsUsedAlthoughItCannotBeLocked) {
    Mutex mutex{node_, "x"};
    lock_some_times(mutex);
    mutex.lock();
    const auto lost = mutex.hold().lost();
    node_.break_lock("x", node_.inspect("x").holders.front().token, "test");
    EXPECT_TRUE(comes_true([&] { return lost.stop_requested(); }));
    node_.close();
    EXPECT_THROW(mutex.lock(), LockError);
    EXPECT_FALSE(mutex.owned_by_this_thread());
    mutex.unlock();
    EXPECT_THROW(static_cast<void>(mutex.try_lock()), LockError);
}

TEST_F(CachedMutex, S18_IsNotLockedOnceItsCallsAreCancelled) {
    std::stop_source stop;
    Mutex mutex{node_, "x", {.cancel = stop.get_token()}};
    lock_some_times(mutex);
    stop.request_stop();
    EXPECT_FALSE(mutex.try_lock());
    EXPECT_THROW(mutex.lock(), LockError);
}

// The node looks from time to time whether a grant is unused. That does not disturb its user.
TEST_F(CachedMutex, S43_AGrantThatIsUsedStays) {
    Mutex mutex{node_, "x"};
    lock_some_times(mutex);
    const auto entries = node_.metrics().entries_applied;
    const auto end = Clock::now() + 2500ms;
    while (Clock::now() < end) {
        const std::scoped_lock lock{mutex};
        EXPECT_TRUE(mutex.hold().valid());
        std::this_thread::sleep_for(1ms);
    }
    EXPECT_TRUE(node_.inspect("x").holders.front().cached);
    EXPECT_LE(node_.metrics().entries_applied, entries + 4);  // of renewals
}

// A mutex and a name are different users of one grant.
TEST_F(CachedMutex, S39_AMutexAndANameTakeTurns) {
    Mutex mutex{node_, "x"};
    lock_some_times(mutex);
    FencingToken newest;
    for (int times = 0; times < 50; ++times) {
        if (times % 3 == 0) {
            const auto hold = node_.acquire("x", {.label = times % 2 == 0 ? "even" : "odd"});
            EXPECT_GT(hold.token(), newest);
            newest = hold.token();
        } else {
            const std::scoped_lock lock{mutex};
            EXPECT_GT(mutex.hold().token(), newest);
            newest = mutex.hold().token();
        }
    }
    EXPECT_GT(served(node_), 48U);
}

// Runs it while another thread reads the name.
template <class Body>
void while_another_reads(SharedMutex& mutex, const Body& body) {
    std::latch reads{1};
    std::latch done{1};
    std::jthread other{[&] {
        const std::shared_lock lock{mutex};
        reads.count_down();
        done.wait();
    }};
    reads.wait();
    body();
    done.count_down();
}

// The node has two shared grants, and the thread may have used either of them last.
TEST_F(CachedMutex, S20_AThreadDoesNotReadANameTwice) {
    for (const bool is_first : {true, false}) {
        SharedMutex one{node_, "x"};
        SharedMutex two{node_, "x"};
        SharedMutex other{node_, "x"};
        const auto read = [](SharedMutex& mutex) { const std::shared_lock lock{mutex}; };
        for (int times = 0; times < 4; ++times) {
            if (is_first) {
                const std::shared_lock lock{one};
                while_another_reads(other, [] {});
            } else {
                while_another_reads(other, [&] { read(one); });
            }
        }
        const std::shared_lock lock{two};
        EXPECT_THROW(one.lock_shared(), LockError);
    }
}

TEST_F(CachedMutex, ASharedOneIsLockedInBothModesInTurn) {
    SharedMutex mutex{node_, "x"};
    for (int times = 0; times < 20; ++times) {
        const std::scoped_lock lock{mutex};
        EXPECT_EQ(mutex.hold().mode(), LockMode::exclusive);
        if (times % 3 != 0) continue;
        mutex.unlock();
        mutex.lock_shared();
        EXPECT_EQ(mutex.hold().mode(), LockMode::shared);
        mutex.unlock_shared();
        mutex.lock();
    }
}

// --- several nodes

class CachedInACluster : public ::testing::Test {
protected:
    testkit::LocalCluster cluster_{3, testkit::quick_timing()};
    Node& one_ = cluster_.node(0);
    Node& two_ = cluster_.node(1);
};

TEST_F(CachedInACluster, S40_AnotherNodeRecallsAnUnusedGrant) {
    const auto token = cache(one_, "x");
    ASSERT_TRUE(two_.inspect("x").holders.front().cached);
    auto hold = two_.acquire("x");
    EXPECT_GT(hold.token(), token);
    EXPECT_FALSE(two_.inspect("x").holders.front().cached);
}

TEST_F(CachedInACluster, S40_AnotherNodeWaitsForTheUser) {  // P7
    cache(one_, "x");
    auto used = one_.acquire("x", {.label = "user"});
    ASSERT_EQ(served(one_), 1U);
    auto next = async_acquire(two_, "x", asio::use_future);
    // S45: the cluster learns who keeps it waiting.
    EXPECT_TRUE(comes_true([&] { return !two_.inspect("x").holders.front().cached; }));
    EXPECT_EQ(two_.inspect("x").holders.front().label, "user");
    EXPECT_EQ(two_.inspect("x").holders.front().token, used.token());
    EXPECT_EQ(next.wait_for(0s), std::future_status::timeout);
    const auto token = used.token();
    used.unlock();
    auto hold = next.get();
    EXPECT_GT(hold.token(), token);
    EXPECT_EQ(hold.previous().label, "user");
    EXPECT_EQ(hold.previous().token, token);
}

TEST_F(CachedInACluster, S40_AMutexThatIsUnlockedIsRecalled) {
    Mutex mutex{one_, "x"};
    Mutex other{two_, "x"};
    for (int turns = 0; turns < 5; ++turns) {
        for (auto* one : {&mutex, &other}) {
            for (int times = 0; times < 5; ++times) {
                const std::scoped_lock lock{*one};
                EXPECT_TRUE(one->hold().valid());
            }
        }
    }
    EXPECT_GT(served(one_), 0U);
}

// One node takes it all the time without the cache, and the other one recalls it (P1, P2).
TEST_F(CachedInACluster, S40_AGrantThatIsTakenAllTheTimeIsRecalled) {
    std::atomic<int> inside = 0;
    FencingToken newest;
    const auto use = [&](const Hold& hold) {
        EXPECT_EQ(inside.fetch_add(1), 0);
        EXPECT_GT(hold.token(), newest);
        newest = hold.token();
        inside.fetch_sub(1);
    };
    std::jthread busy{[&](const std::stop_token& stop) {
        Mutex mutex{one_, "x"};
        while (!stop.stop_requested()) {
            const std::scoped_lock lock{mutex};
            use(mutex.hold());
        }
    }};
    for (int times = 0; times < 40; ++times) {
        std::this_thread::sleep_for(5ms);
        use(two_.acquire("x"));
    }
    busy.request_stop();
    busy.join();
    EXPECT_GT(served(one_), 40U);
}

TEST_F(CachedInACluster, S43_ATryRecallsAsWell) {
    cache(one_, "x");
    EXPECT_TRUE(two_.try_acquire("x").has_value());
}

// The cluster is told of the last use before the grant goes back.
TEST_F(CachedInACluster, S43_ATryGetsANameThatWasServedFromTheCache) {
    for (const auto* name : {"x", "y"}) {
        cache(one_, name);
        EXPECT_FALSE(one_.acquire(name, {.label = "served"}).release());
    }
    ASSERT_EQ(served(one_), 2U);
    const auto other = two_.try_acquire("x");
    ASSERT_TRUE(other);
    EXPECT_EQ(other->previous().label, "served");
    EXPECT_TRUE(one_.try_acquire("y", {.min_hold = 1ms}));  // not from the cache
}

TEST_F(CachedInACluster, S43_ATryDoesNotWaitForAUser) {
    cache(one_, "x");
    const auto used = one_.acquire("x");
    ASSERT_EQ(served(one_), 1U);
    EXPECT_FALSE(two_.try_acquire("x").has_value());
    EXPECT_TRUE(used.valid());
}

TEST_F(CachedInACluster, S41_NodesThatContendServeTheirOwnCallersAndTheOthers) {
    constexpr int times = 100;
    std::atomic<int> inside = 0;
    FencingToken newest;
    std::vector<std::jthread> all;
    for (std::size_t thread = 0; thread < 9; ++thread) {
        all.emplace_back([&, thread] {
            auto& node = cluster_.node(thread % 3);
            for (int time = 0; time < times;) {
                std::error_code ec;  // a busy machine may let a session expire
                const auto hold = node.acquire("x", {}, ec);
                if (ec) continue;
                EXPECT_EQ(++inside, 1);
                EXPECT_GT(hold.token(), newest);
                newest = hold.token();
                --inside;
                ++time;
            }
        });
    }
    all.clear();
    EXPECT_GT(served(one_) + served(two_) + served(cluster_.node(2)), 9U * times / 2);
}

TEST_F(CachedInACluster, S33_AWaitCycleOfTwoLocalQueuesIsFound) {  // P9
    Mutex left{one_, "left"};
    Mutex right{one_, "right"};
    for (auto* mutex : {&left, &right}) {
        for (int times = 0; times < 3; ++times)
            const std::scoped_lock lock{*mutex};
    }
    std::latch both{2};
    std::atomic<int> deadlocks = 0;
    const auto lock_both = [&](Mutex& first, Mutex& second) {
        const std::scoped_lock outer{first};
        both.arrive_and_wait();
        try {
            const std::scoped_lock inner{second};
        } catch (const LockError& error) {
            EXPECT_EQ(error.code(), Errc::deadlock);
            ++deadlocks;
        }
    };
    std::jthread other{[&] { lock_both(left, right); }};
    lock_both(right, left);
    other.join();
    EXPECT_EQ(deadlocks, 1);
}

TEST_F(CachedInACluster, S44_NodesServeReadersOfTheirOwnAtOnce) {
    const auto token = cache(one_, "x", to_read);
    EXPECT_EQ(cache(two_, "x", to_read), token);
    const auto holders = cluster_.node(2).inspect("x").holders;
    ASSERT_EQ(holders.size(), 2U);
    EXPECT_TRUE(holders.front().cached);
    EXPECT_TRUE(holders.back().cached);
    const auto here = one_.acquire("x", to_read);
    const auto there = two_.acquire("x", to_read);
    EXPECT_EQ(served(one_), 1U);
    EXPECT_EQ(served(two_), 1U);
    EXPECT_TRUE(here.valid() && there.valid());
    EXPECT_EQ(here.token(), token);
    EXPECT_EQ(there.token(), token);
}

TEST_F(CachedInACluster, S44_AWriterRecallsTheGrantOfEachNode) {  // P2
    const auto token = cache(one_, "x", to_read);
    cache(two_, "x", to_read);
    auto here = one_.acquire("x", to_read);
    auto there = two_.acquire("x", to_read);
    auto& other = cluster_.node(2);
    auto next = async_acquire(other, "x", asio::use_future);
    // S45: both users stay, so the cluster learns of both.
    EXPECT_TRUE(comes_true([&] {
        const auto holders = other.inspect("x").holders;
        return holders.size() == 2 && !holders.front().cached && !holders.back().cached;
    }));
    here.unlock();
    EXPECT_TRUE(comes_true([&] { return other.inspect("x").holders.size() == 1; }));
    EXPECT_EQ(next.wait_for(0s), std::future_status::timeout);
    EXPECT_TRUE(there.valid());
    there.unlock();
    auto writer = next.get();
    EXPECT_GT(writer.token(), token);
    for (auto* node : {&one_, &two_}) {
        EXPECT_FALSE(node->try_acquire("x", to_read));
        EXPECT_EQ(served(*node), 1U);
    }
    writer.unlock();
    EXPECT_GT(one_.acquire("x", to_read).token(), token);
}

TEST_F(CachedInACluster, S44_AWriterGetsWhatNoReaderUses) {  // P7
    const auto token = cache(one_, "x", to_read);
    cache(two_, "x", to_read);
    EXPECT_GT(cluster_.node(2).acquire("x").token(), token);
    cache(one_, "y", to_read);
    cache(two_, "y", to_read);
    EXPECT_TRUE(one_.try_acquire("y"));  // its own reader's grant is in the way as well
}

TEST_F(CachedInACluster, S41_WhatGoesToAndFroIsCachedLess) {
    for (int turns = 0; turns < 20; ++turns) {
        for (auto* node : {&one_, &two_})
            const auto hold = node->acquire("x");
    }
    const auto before = served(one_) + served(two_);
    for (int turns = 0; turns < 20; ++turns) {
        for (auto* node : {&one_, &two_})
            const auto hold = node->acquire("x");
    }
    EXPECT_EQ(served(one_) + served(two_), before);
}

TEST_F(CachedInACluster, S42_ANodeThatIsCutOffServesNothingAfterItsLease) {  // P3
    cache(one_, "x");
    auto used = one_.acquire("x");
    ASSERT_EQ(served(one_), 1U);
    used.unlock();
    cluster_.isolate(0);
    auto hold = two_.acquire("x", {.wait_max = patience});
    std::error_code ec;
    EXPECT_FALSE(one_.acquire("x", {.wait_max = 100ms}, ec).valid());
    EXPECT_TRUE(ec);
    EXPECT_EQ(served(one_), 1U);
    EXPECT_TRUE(hold.valid());
}

// Whether the lock is refused, because waiting for it would complete a wait cycle.
bool is_deadlock(Mutex& mutex) {
    try {
        mutex.lock();
        mutex.unlock();
        return false;
    } catch (const LockError& error) {
        return error.code() == Errc::deadlock;
    }
}

TEST_F(CachedInACluster, S33_ACycleThroughCachedGrantsIsFound) {
    cache(one_, "x");
    cache(two_, "y");
    Mutex x_here{one_, "x"};
    Mutex y_here{one_, "y"};
    Mutex x_there{two_, "x"};
    Mutex y_there{two_, "y"};
    x_here.lock();
    std::promise<void> there_holds;
    auto there = std::async(std::launch::async, [&] {
        y_there.lock();
        there_holds.set_value();
        const bool refused = is_deadlock(x_there);
        y_there.unlock();
        return refused;
    });
    there_holds.get_future().wait();
    const bool refused = is_deadlock(y_here);
    x_here.unlock();
    EXPECT_NE(there.get(), refused);
}

}  // namespace
}  // namespace mortise
