// Conversions of holds, as a program uses them (S27, S28).
#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <thread>

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
const AcquireOptions to_update{.mode = LockMode::update};

bool is_pending(const std::future<Hold>& future) {
    return future.wait_for(0s) != std::future_status::ready;
}

class Conversions : public OneNode {
protected:
    // Runs on a thread of its own; returns the result.
    static std::future<std::error_code> upgrade_elsewhere(Hold& hold) {
        return std::async(std::launch::async, [&hold] {
            std::error_code ec;
            hold.upgrade(Clock::now() + patience, ec);
            return ec;
        });
    }
    [[nodiscard]] bool can_be_read() { return node_.try_acquire("x", to_read).has_value(); }

    std::error_code ec_;
};

// --- downgrade

TEST_F(Conversions, S27_ADowngradeLetsReadersInAndKeepsItsToken) {
    auto hold = node_.acquire("x");
    const auto token = hold.token();
    auto reader = async_acquire(node_, "x", to_read, asio::use_future);
    ASSERT_TRUE(wait_for_waiters("x", 1));
    hold.downgrade(LockMode::shared);
    EXPECT_TRUE(reader.get().valid());
    EXPECT_TRUE(hold.valid());
    EXPECT_EQ(hold.mode(), LockMode::shared);
    EXPECT_EQ(hold.token(), token);
}

// Curator had this error for years: its reader stood behind the writer in the queue.
TEST_F(Conversions, S27_ADowngradeLetsNoWriterIn) {
    auto hold = node_.acquire("x");
    auto writer = async_acquire(node_, "x", asio::use_future);
    ASSERT_TRUE(wait_for_waiters("x", 1));
    hold.downgrade(LockMode::shared);
    EXPECT_TRUE(is_pending(writer));
    EXPECT_TRUE(hold.valid());
    EXPECT_FALSE(hold.release());
    EXPECT_TRUE(writer.get().valid());
}

TEST_F(Conversions, S27_ADowngradeToWhatAdmitsLessIsRefused) {
    using enum LockMode;
    for (const auto& [from, to] : {std::pair{shared, exclusive},
                                   {shared, update},
                                   {update, exclusive},
                                   {intent_exclusive, shared}}) {
        auto hold = node_.acquire("x", {.mode = from});
        hold.downgrade(to, ec_);
        EXPECT_EQ(ec_, Errc::invalid_argument) << to_string(from) << " to " << to_string(to);
        EXPECT_EQ(hold.mode(), from);
        EXPECT_TRUE(hold.valid());
    }
}

TEST_F(Conversions, S27_ADowngradeToTheSameModeChangesNothing) {
    auto hold = node_.acquire("x");
    hold.downgrade(LockMode::exclusive);
    EXPECT_EQ(hold.mode(), LockMode::exclusive);
    EXPECT_FALSE(can_be_read());
}

// --- upgrade

TEST_F(Conversions, S27_AnUpgradeWaitsForTheReadersAndStopsNewOnes) {
    auto hold = node_.acquire("x", to_update);
    auto reader = node_.acquire("x", to_read);
    auto upgraded = upgrade_elsewhere(hold);
    ASSERT_TRUE(wait_for_waiters("x", 1));
    EXPECT_FALSE(can_be_read());
    const auto newest = reader.token();
    EXPECT_FALSE(reader.release());
    EXPECT_FALSE(upgraded.get());
    EXPECT_EQ(hold.mode(), LockMode::exclusive);
    EXPECT_TRUE(hold.valid());
    EXPECT_GT(hold.token(), newest);  // S13
    EXPECT_EQ(node_.inspect("x").holders.at(0).token, hold.token());
}

TEST_F(Conversions, S28_AnUpgradeGoesBeforeAWriterThatWaits) {
    auto hold = node_.acquire("x", to_update);
    auto writer = async_acquire(node_, "x", asio::use_future);
    ASSERT_TRUE(wait_for_waiters("x", 1));
    hold.upgrade();
    EXPECT_TRUE(is_pending(writer));
    hold.unlock();
    EXPECT_TRUE(writer.get().valid());
}

TEST_F(Conversions, S28_AnUpgradeThatTimedOutLeavesTheOldMode) {  // P6
    auto hold = node_.acquire("x", to_update);
    const auto token = hold.token();
    auto reader = node_.acquire("x", to_read);
    hold.upgrade(Clock::now() + 20ms, ec_);
    EXPECT_EQ(ec_, Errc::timed_out);
    EXPECT_EQ(hold.mode(), LockMode::update);
    EXPECT_EQ(hold.token(), token);
    EXPECT_TRUE(hold.valid());
    EXPECT_TRUE(can_be_read());
    EXPECT_FALSE(node_.try_acquire("x", to_update));
    hold.upgrade(Clock::now() - 1s, ec_);  // a single attempt
    EXPECT_EQ(ec_, Errc::timed_out);
    EXPECT_THROW(hold.upgrade(Clock::now()), LockError);
    EXPECT_FALSE(reader.release());
    hold.upgrade();
    EXPECT_GT(hold.token(), token);
}

// They would wait for each other for ever (Redisson 4796; Curator: "will never succeed").
TEST_F(Conversions, S27_TwoReadersThatUpgradeAreToldOfTheDeadlock) {
    auto first = node_.acquire("x", to_read);
    auto second = node_.acquire("x", to_read);
    first.upgrade(ec_);
    EXPECT_EQ(ec_, Errc::deadlock);
    EXPECT_TRUE(first.valid());
    EXPECT_EQ(first.mode(), LockMode::shared);
    EXPECT_FALSE(first.release());
    second.upgrade(ec_);
    EXPECT_FALSE(ec_);
    EXPECT_EQ(second.mode(), LockMode::exclusive);
}

TEST_F(Conversions, S27_ATryIsAnAnswer) {
    auto hold = node_.acquire("x", to_read);
    auto reader = node_.acquire("x", to_read);
    EXPECT_FALSE(hold.try_upgrade());
    EXPECT_FALSE(hold.try_upgrade(ec_));
    EXPECT_FALSE(ec_);
    EXPECT_TRUE(hold.valid());
    reader.unlock();
    EXPECT_TRUE(hold.try_upgrade());
    EXPECT_FALSE(can_be_read());
}

TEST_F(Conversions, S27_FromOtherModesAnUpgradeIsRefused) {
    using enum LockMode;
    for (const auto mode : {intent_shared, intent_exclusive, shared_intent_exclusive, exclusive}) {
        auto hold = node_.acquire("x", {.mode = mode});
        hold.upgrade(ec_);
        EXPECT_EQ(ec_, Errc::invalid_argument) << to_string(mode);
        EXPECT_EQ(hold.mode(), mode);
        EXPECT_FALSE(hold.try_upgrade(ec_));
        EXPECT_EQ(ec_, Errc::invalid_argument);
    }
}

// The hold is unchanged: a refused downgrade does not lower it.
TEST_F(Conversions, ADowngradeWhileAnUpgradeWaitsIsRefused) {
    auto hold = node_.acquire("x", to_update);
    auto reader = node_.acquire("x", to_read);
    auto upgraded = upgrade_elsewhere(hold);
    ASSERT_TRUE(wait_for_waiters("x", 1));
    hold.downgrade(LockMode::shared, ec_);
    EXPECT_EQ(ec_, Errc::invalid_argument);
    EXPECT_EQ(hold.mode(), LockMode::update);
    EXPECT_EQ(node_.inspect("x").holders.at(0).mode, LockMode::update);
    EXPECT_FALSE(reader.release());
    EXPECT_FALSE(upgraded.get());
    EXPECT_EQ(hold.mode(), LockMode::exclusive);
}

TEST_F(Conversions, S27_AReleaseEndsAnUpgradeThatWaits) {
    auto hold = node_.acquire("x", to_update);
    auto reader = node_.acquire("x", to_read);
    auto upgraded = upgrade_elsewhere(hold);
    ASSERT_TRUE(wait_for_waiters("x", 1));
    hold.unlock();
    EXPECT_EQ(upgraded.get(), Errc::cancelled);
    EXPECT_TRUE(can_be_read());
    reader.unlock();
    EXPECT_TRUE(node_.acquire_for("x", patience));
}

TEST_F(Conversions, AClosedNodeEndsAnUpgradeThatWaits) {
    auto hold = node_.acquire("x", to_update);
    const auto reader = node_.acquire("x", to_read);
    auto upgraded = upgrade_elsewhere(hold);
    ASSERT_TRUE(wait_for_waiters("x", 1));
    node_.close();
    EXPECT_EQ(upgraded.get(), Errc::node_stopped);
    hold.downgrade(LockMode::shared, ec_);
    EXPECT_EQ(ec_, Errc::node_stopped);
    EXPECT_THROW(std::ignore = hold.try_upgrade(), LockError);
}

TEST_F(Conversions, WithoutAHoldAreRefused) {
    Hold hold;
    hold.downgrade(LockMode::shared, ec_);
    EXPECT_EQ(ec_, Errc::not_held);
    hold.upgrade(ec_);
    EXPECT_EQ(ec_, Errc::not_held);
    EXPECT_FALSE(hold.try_upgrade(ec_));
    EXPECT_EQ(ec_, Errc::not_held);
    hold = node_.acquire("x");
    hold.unlock();
    EXPECT_THROW(hold.downgrade(LockMode::shared), LockError);
    EXPECT_THROW(hold.upgrade(), LockError);
}

// S20: commands of a session on a name take effect in the order in which they were issued.
TEST_F(Conversions, S20_ATryBehindADowngradeSeesIt) {
    for (int i = 0; i < 50; ++i) {
        auto hold = node_.acquire("x", to_update);
        hold.upgrade();
        hold.downgrade(LockMode::shared);
        EXPECT_TRUE(can_be_read());
    }
}

TEST_F(Conversions, AnUpgradeThatWaitsIsListedAsOne) {
    auto hold = node_.acquire("x", to_update);
    const auto reader = node_.acquire("x", to_read);
    auto writer = async_acquire(node_, "x", {.priority = 7}, asio::use_future);
    ASSERT_TRUE(wait_for_waiters("x", 1));
    auto upgraded = upgrade_elsewhere(hold);
    ASSERT_TRUE(wait_for_waiters("x", 2));
    const auto lock = node_.inspect("x");
    EXPECT_TRUE(lock.waiters.at(0).upgrades);
    EXPECT_EQ(lock.waiters.at(0).mode, LockMode::exclusive);
    EXPECT_FALSE(lock.waiters.at(1).upgrades);
    EXPECT_EQ(lock.waiters.at(1).priority, 7);
    EXPECT_EQ(lock.holders.at(0).mode, LockMode::update);
    hold.unlock();
    EXPECT_EQ(upgraded.get(), Errc::cancelled);
}

// P1 at the resource: what was read with the old token does not overwrite what was written with the
// new one.
TEST_F(Conversions, AGateTakesTheNewTokenAndRefusesTheOld) {
    const auto directory = std::filesystem::temp_directory_path() /
                           ("mortise-conversions-" + std::to_string(getpid()));
    std::filesystem::create_directories(directory);
    {
        auto gate = FenceGate::open(directory);
        auto hold = node_.acquire("x", to_update);
        const auto old = hold.token();
        hold.upgrade();
        EXPECT_TRUE(gate.admit("x", hold.token(), [] {}));
        EXPECT_FALSE(gate.admit("x", old, [] {}));
    }
    std::filesystem::remove_all(directory);
}

// --- S22: a locker has one grant

TEST_F(Conversions, S22_NestedHoldsCannotConvert) {
    const Locker locker{node_};
    auto outer = node_.acquire("x", {.mode = LockMode::update, .locker = locker});
    auto inner = node_.acquire("x", {.mode = LockMode::shared, .locker = locker});
    outer.downgrade(LockMode::shared, ec_);
    EXPECT_EQ(ec_, Errc::invalid_argument);
    outer.upgrade(ec_);
    EXPECT_EQ(ec_, Errc::invalid_argument);
    EXPECT_EQ(outer.mode(), LockMode::update);
    inner.unlock();
    outer.upgrade(ec_);
    EXPECT_FALSE(ec_);
    EXPECT_EQ(outer.mode(), LockMode::exclusive);
    EXPECT_EQ(node_.inspect("x").holders.at(0).token, outer.token());
    outer.downgrade(LockMode::shared);
    EXPECT_FALSE(node_.acquire("x", {.locker = locker}, ec_));
    EXPECT_EQ(ec_, Errc::deadlock);
}

// --- a cluster

TEST(ConversionsOfACluster, AnUpgradeWaitsThroughAChangeOfTheLeader) {
    testkit::LocalCluster cluster{3, testkit::quick_timing()};
    std::size_t leader = cluster.leader().value_or(0);
    auto& mine = cluster.node((leader + 1) % 3);
    auto& theirs = cluster.node((leader + 2) % 3);
    auto hold = mine.acquire("x", to_update);
    auto reader = theirs.acquire("x", to_read);
    auto upgraded = std::async(std::launch::async, [&] {
        std::error_code ec;
        hold.upgrade(Clock::now() + patience, ec);
        return ec;
    });
    while (mine.inspect("x", ReadLevel::local).waiters.empty())
        std::this_thread::sleep_for(1ms);
    cluster.kill(leader);
    EXPECT_FALSE(reader.release());
    EXPECT_FALSE(upgraded.get());
    EXPECT_EQ(hold.mode(), LockMode::exclusive);
    EXPECT_FALSE(theirs.try_acquire("x", to_read));
}

// Its node receives nothing, and still the hold is not exclusive from the call on, since the others
// may have let readers in.
TEST(ConversionsOfACluster, ADowngradeCountsBeforeItIsHeardOf) {
    auto timing = testkit::quick_timing();
    timing.session_ttl = 30s;
    timing.call_timeout = 1s;
    testkit::LocalCluster cluster{3, timing};
    auto hold = cluster.node(0).acquire("x");
    cluster.isolate(0);
    auto lowered = std::async(std::launch::async, [&hold] {
        std::error_code told;
        hold.downgrade(LockMode::shared, told);
        return told;
    });
    auto mode = hold.mode();
    while (lowered.wait_for(1ms) != std::future_status::ready)
        mode = hold.mode();
    EXPECT_EQ(mode, LockMode::shared);  // before any answer
    EXPECT_EQ(lowered.get(), Errc::no_quorum);
    EXPECT_EQ(hold.mode(), LockMode::shared);
    cluster.heal();
    // The downgrade is still on its way.
    std::error_code ec;
    Hold reader;
    const auto give_up = Clock::now() + patience;
    while (!reader && Clock::now() < give_up)
        reader = cluster.node(1).acquire("x", to_read, ec);
    EXPECT_TRUE(reader.valid() && hold.valid());
}

// Readers and a holder that upgrades, on two nodes: an exclusive holder is alone.
TEST(ConversionsOfACluster, AnExclusiveHolderIsAlone) {
    testkit::LocalCluster cluster{3, testkit::quick_timing()};
    std::atomic<int> readers = 0;
    std::atomic<int> mistakes = 0;
    std::atomic<bool> over = false;
    std::jthread reading{[&] {
        while (!over) {
            const auto hold = cluster.node(1).acquire("x", to_read);
            ++readers;
            std::this_thread::yield();
            --readers;
        }
    }};
    for (int i = 0; i < 30; ++i) {
        auto hold = cluster.node(0).acquire("x", to_update);
        hold.upgrade();
        if (readers != 0) ++mistakes;
        hold.downgrade(LockMode::update);
    }
    over = true;
    EXPECT_EQ(mistakes, 0);
}

}  // namespace
}  // namespace mortise
