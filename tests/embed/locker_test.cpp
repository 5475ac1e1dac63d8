// Lockers and recursion on a real node (S22).
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <asio/use_future.hpp>
#include <unistd.h>

#include "tests/embed/one_node.hpp"
#include "tests/support/child.hpp"
#include <mortise/async.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;

class LockerOnANode : public OneNode {
protected:
    AcquireOptions by(const Locker& locker, LockMode mode = LockMode::exclusive) {
        AcquireOptions options;
        options.mode = mode;
        options.locker = locker;
        return options;
    }
    std::size_t holders(const char* name) { return node_.inspect(name).holders.size(); }

    Locker locker_{node_, "importer"};
    std::error_code ec_;
};

TEST_F(LockerOnANode, HasANameMoreThanOnce) {
    auto first = node_.acquire("x", by(locker_));
    auto second = node_.try_acquire("x", by(locker_));
    auto third = node_.acquire_for("x", 1s, by(locker_, LockMode::shared));
    ASSERT_TRUE(second && third);
    EXPECT_EQ(first.token(), third->token());
    EXPECT_EQ(third->mode(), LockMode::shared);
    EXPECT_EQ(holders("x"), 1U);
    EXPECT_EQ(locker_.hold_count(), 3U);
    EXPECT_FALSE(first.release());
    EXPECT_FALSE(second->release());
    EXPECT_EQ(holders("x"), 1U);
    EXPECT_TRUE(third->valid());
    EXPECT_FALSE(third->release());
    EXPECT_EQ(holders("x"), 0U);
}

TEST_F(LockerOnANode, ExcludesEverybodyElse) {
    const Locker other{node_};
    const auto hold = node_.acquire("x", by(locker_));
    EXPECT_FALSE(node_.try_acquire("x", by(other)));
    EXPECT_FALSE(node_.try_acquire("x"));
}

TEST_F(LockerOnANode, IsTheSameOnAnotherThreadAndAsACopy) {
    auto hold = node_.acquire("x", by(locker_));
    std::thread{[this, copy = locker_] {
        EXPECT_TRUE(copy == locker_);
        EXPECT_TRUE(node_.try_acquire("x", by(copy)));
    }}.join();
    EXPECT_EQ(locker_.hold_count(), 1U);
}

TEST_F(LockerOnANode, MayGoBeforeItsHolds) {
    Hold hold;
    {
        const Locker brief{node_};
        hold = node_.acquire("x", by(brief));
    }
    EXPECT_TRUE(hold.valid());
    EXPECT_EQ(holders("x"), 1U);
    EXPECT_FALSE(hold.release());
    EXPECT_EQ(holders("x"), 0U);
}

TEST_F(LockerOnANode, AStrongerModeIsADeadlock) {
    const auto hold = node_.acquire("x", by(locker_, LockMode::shared));
    EXPECT_FALSE(node_.acquire("x", by(locker_), ec_));
    EXPECT_EQ(ec_, Errc::deadlock);
    EXPECT_FALSE(node_.try_acquire("x", by(locker_, LockMode::update), ec_));
    EXPECT_EQ(ec_, Errc::deadlock);
}

TEST_F(LockerOnANode, ReleasesAllAtOnce) {
    auto one = node_.acquire("1", by(locker_));
    auto two = node_.acquire("2", by(locker_));
    auto again = node_.acquire("2", by(locker_));
    EXPECT_FALSE(locker_.release_all());
    EXPECT_EQ(locker_.hold_count(), 0U);
    EXPECT_EQ(holders("1") + holders("2"), 0U);
    EXPECT_FALSE(one || two || again);
    EXPECT_FALSE(locker_.release_all());
    EXPECT_TRUE(node_.try_acquire("2", by(locker_)));
}

TEST_F(LockerOnANode, AWaitThatEndsLeavesNothing) {
    auto taken = node_.acquire("x");
    EXPECT_FALSE(node_.try_acquire("x", by(locker_)));
    EXPECT_FALSE(node_.acquire_for("x", 20ms, by(locker_)));
    EXPECT_EQ(locker_.hold_count(), 0U);
    EXPECT_FALSE(taken.release());
    EXPECT_TRUE(node_.try_acquire("x", by(locker_)));
}

TEST_F(LockerOnANode, AsksForANameOnceAtATime) {
    auto taken = node_.acquire("x");
    std::thread waiting{[this] { EXPECT_TRUE(node_.acquire("x", by(locker_))); }};
    ASSERT_TRUE(wait_for_waiters("x", 1));
    EXPECT_FALSE(node_.try_acquire("x", by(locker_), ec_));
    EXPECT_EQ(ec_, Errc::invalid_argument);
    taken.unlock();
    waiting.join();
}

TEST_F(LockerOnANode, RecursesInAsynchronousCalls) {
    auto first = async_acquire(node_, "x", by(locker_), asio::use_future).get();
    auto second = async_try_acquire(node_, "x", by(locker_), asio::use_future).get();
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first.token(), second.token());
    async_release(std::move(first), asio::use_future).get();
    EXPECT_EQ(holders("x"), 1U);
    async_release(std::move(second), asio::use_future).get();
    EXPECT_EQ(holders("x"), 0U);
}

TEST_F(LockerOnANode, BelongsToItsNode) {
    Node other{Config::in_memory()};
    EXPECT_FALSE(other.try_acquire("x", by(locker_), ec_));
    EXPECT_EQ(ec_, Errc::invalid_argument);
    EXPECT_THROW((Locker{node_, std::string(257, 'x')}), LockError);
    EXPECT_EQ(Locker{}.hold_count(), 0U);
    EXPECT_FALSE(Locker{}.release_all());
    EXPECT_FALSE((Locker{node_}) == (Locker{node_}));
}

TEST(Locker, OutlivesItsNode) {
    auto node = std::make_unique<Node>(Config::in_memory());
    Locker locker{*node};
    AcquireOptions options;
    options.locker = locker;
    auto hold = node->acquire("x", options);
    auto nested = node->acquire("x", options);
    node.reset();
    EXPECT_EQ(nested.why_lost(), LossReason::node_stopped);
    EXPECT_EQ(locker.hold_count(), 2U);
    EXPECT_EQ(hold.release(), Errc::node_stopped);
    EXPECT_EQ(locker.hold_count(), 1U);
    EXPECT_FALSE(locker.release_all());
}

// Each thread nests as deeply as it likes; in the end everything is released.
TEST_F(LockerOnANode, MayBeSharedByManyThreads) {
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 4; ++thread) {
            threads.emplace_back([this] {
                for (int round = 0; round < 200; ++round) {
                    std::error_code ec;
                    auto hold = node_.acquire("x", by(locker_), ec);
                    // While another thread acquires it, or the other way round.
                    EXPECT_TRUE(!ec || ec == Errc::invalid_argument) << ec.message();
                    EXPECT_EQ(static_cast<bool>(hold), !ec);
                    EXPECT_TRUE(ec || hold.valid());
                }
            });
        }
    }
    EXPECT_EQ(locker_.hold_count(), 0U);
    EXPECT_TRUE(node_.try_acquire("x"));
}

TEST_F(LockerOnANode, IsDeadInTheChildOfAFork) {
    auto hold = node_.acquire("x", by(locker_));
    auto nested = node_.acquire("x", by(locker_));
    EXPECT_EQ(tests::exit_of_child([&] {
                  bool well = !nested.valid() && nested.why_lost() == LossReason::forked;
                  nested.unlock();
                  well = well && !locker_.release_all() && locker_.hold_count() == 0;
                  return well ? 0 : 1;
              }),
              0);
    EXPECT_TRUE(hold.valid() && nested.valid());
    EXPECT_EQ(locker_.hold_count(), 2U);
}

TEST_F(LockerOnANode, RecursiveMutexesOfANameRecurseIntoEachOther) {
    RecursiveMutex one{node_, "m"};
    RecursiveMutex two{node_, "m"};
    one.lock();
    one.lock();
    two.lock();
    EXPECT_EQ(one.hold().token(), two.hold().token());
    EXPECT_EQ(holders("m"), 1U);
    std::thread{[&] { EXPECT_FALSE(one.try_lock()); }}.join();
    one.unlock();
    one.unlock();
    EXPECT_EQ(holders("m"), 1U);
    EXPECT_TRUE(two.hold().valid());
    two.unlock();
    std::thread{[&] {
        const std::scoped_lock lock{one};
        EXPECT_TRUE(one.hold().valid());
    }}.join();
}

}  // namespace
}  // namespace mortise
