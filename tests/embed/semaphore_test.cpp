// Semaphores on a node and on a cluster (S15, S34, S37).
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <asio/io_context.hpp>
#include <asio/use_future.hpp>

#include "tests/embed/one_node.hpp"
#include <mortise/async.hpp>
#include <mortise/testkit/local_cluster.hpp>
#include <mortise/testkit/temp_directory.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;

std::vector<std::uint32_t> numbers_of(const Hold& hold) {
    std::vector<std::uint32_t> numbers;
    for (const auto& slot : hold.slots())
        numbers.push_back(slot.number);
    return numbers;
}
using Numbers = std::vector<std::uint32_t>;

class Semaphores : public OneNode {
protected:
    [[nodiscard]] Semaphore pool(std::uint32_t limit = 3) { return {node_, "pool", limit}; }
};

TEST_F(Semaphores, S15_AHoldHasNumberedSlotsWithItsToken) {
    auto semaphore = pool();
    auto two = semaphore.acquire(2);
    const auto one = semaphore.acquire();
    EXPECT_EQ(numbers_of(two), (Numbers{0, 1}));
    EXPECT_EQ(numbers_of(one), Numbers{2});
    for (const auto& slot : two.slots())
        EXPECT_EQ(slot.token, two.token());
    EXPECT_GT(one.token(), two.token());
    EXPECT_TRUE(two.valid());
    EXPECT_EQ(two.mode(), LockMode::exclusive);
    EXPECT_FALSE(two.release());
    EXPECT_TRUE(two.slots().empty());
    EXPECT_EQ(numbers_of(semaphore.acquire()), Numbers{0});
    EXPECT_TRUE(Hold{}.slots().empty());
    EXPECT_TRUE(node_.acquire("lock").slots().empty());
}

TEST_F(Semaphores, S34_ATryIsEmptyWhenThereAreTooFew) {
    auto semaphore = pool();
    const auto two = semaphore.acquire(2);
    EXPECT_FALSE(semaphore.try_acquire(2));
    EXPECT_FALSE(semaphore.acquire_for(2, 0ms));
    EXPECT_FALSE(semaphore.acquire_for(2, 20ms));
    EXPECT_FALSE(semaphore.acquire_until(2, std::chrono::steady_clock::now() + 20ms));
    EXPECT_TRUE(semaphore.try_acquire());
    EXPECT_EQ(node_.inspect("pool").waiters.size(), 0U);
}

TEST_F(Semaphores, S34_ASmallerRequestDoesNotOvertakeALargerOne) {  // P9
    auto semaphore = pool();
    auto two = semaphore.acquire(2);
    auto large = std::async(std::launch::async, [&] { return semaphore.acquire(2); });
    ASSERT_TRUE(wait_for_waiters("pool", 1));
    EXPECT_FALSE(semaphore.try_acquire());
    const auto info = node_.inspect("pool");
    EXPECT_EQ(info.waiters.at(0).permits, 2U);
    EXPECT_EQ(info.holders.at(0).slots, (Numbers{0, 1}));
    EXPECT_EQ(info.limit, (SemaphoreLimit{3, 1}));
    two.unlock();
    EXPECT_EQ(large.get().slots().size(), 2U);
}

TEST_F(Semaphores, S34_MoreThanTheLimitWaitsUntilItGrows) {
    auto semaphore = pool(1);
    auto all = std::async(std::launch::async, [&] { return semaphore.acquire(4); });
    ASSERT_TRUE(wait_for_waiters("pool", 1));
    semaphore.resize(4);
    EXPECT_EQ(all.get().slots().size(), 4U);
    EXPECT_EQ(semaphore.limit(), 4U);
}

TEST_F(Semaphores, S34_TheLimitInForceIsThatOfTheFirst) {
    auto one = pool(1);
    auto five = pool(5);
    EXPECT_EQ(five.limit(), 5U);  // nobody uses it yet
    const auto hold = one.acquire();
    EXPECT_EQ(five.limit(), 1U);
    EXPECT_FALSE(five.try_acquire());
}

TEST_F(Semaphores, S34_AResizeMayDependOnTheVersion) {
    auto semaphore = pool();
    EXPECT_FALSE(semaphore.resize(4, 2));
    std::error_code ec;
    EXPECT_FALSE(semaphore.resize(4, 0, ec));
    EXPECT_EQ(ec, Errc::invalid_argument);
    EXPECT_EQ(thrown_by([&] { (void)semaphore.resize(4, 0); }), Errc::invalid_argument);
    EXPECT_TRUE(semaphore.resize(4, 1));
    EXPECT_FALSE(semaphore.resize(9, 1));
    EXPECT_EQ(node_.inspect("pool").limit, (SemaphoreLimit{4, 2}));
    EXPECT_TRUE(semaphore.resize(0, 2));
    EXPECT_FALSE(semaphore.try_acquire());
    EXPECT_EQ(semaphore.limit(), 0U);
}

TEST_F(Semaphores, S37_AResizedOneStaysUntilItIsRemoved) {
    auto semaphore = pool();
    semaphore.resize(1);
    auto hold = semaphore.acquire();
    EXPECT_EQ(thrown_by([&] { node_.remove("pool"); }), Errc::invalid_argument);
    EXPECT_FALSE(hold.release());
    EXPECT_EQ(node_.list("").size(), 1U);
    EXPECT_EQ(semaphore.limit(), 1U);
    EXPECT_EQ(thrown_by([&] { std::ignore = node_.acquire("pool"); }), Errc::kind_mismatch);
    node_.remove("pool");
    EXPECT_EQ(node_.inspect("pool"), LockInfo{"pool"});
    EXPECT_EQ(semaphore.limit(), 3U);
    EXPECT_TRUE(node_.try_acquire("pool"));
    std::error_code ec;
    node_.remove("unknown", ec);
    EXPECT_FALSE(ec);
    node_.remove("", ec);
    EXPECT_EQ(ec, Errc::invalid_argument);
}

TEST_F(Semaphores, S36_AValueIsRemovedWithItsName) {
    node_.acquire("lock").set_value("v");
    EXPECT_EQ(thrown_by([&] { std::ignore = Semaphore(node_, "lock", 2).acquire(); }),
              Errc::kind_mismatch);
    std::error_code ec;
    std::ignore = Semaphore(node_, "lock", 2).limit(ec);
    EXPECT_EQ(ec, Errc::kind_mismatch);
    node_.remove("lock");
    EXPECT_EQ(node_.acquire("lock").value(), "");
}

TEST_F(Semaphores, AreNotLocks) {
    auto hold = pool().acquire();
    std::error_code ec;
    hold.downgrade(LockMode::shared, ec);
    EXPECT_EQ(ec, Errc::invalid_argument);
    EXPECT_TRUE(hold.valid());
    hold.upgrade(ec);
    EXPECT_EQ(ec, Errc::invalid_argument);
    hold.set_value("v", ec);
    EXPECT_EQ(ec, Errc::invalid_argument);
    EXPECT_FALSE(node_.try_acquire("pool", ec));
    EXPECT_EQ(ec, Errc::kind_mismatch);
}

TEST_F(Semaphores, WrongArgumentsAreRefused) {
    auto semaphore = pool();
    std::error_code ec;
    for (const std::uint32_t n : {0U, 1'025U}) {
        EXPECT_EQ(thrown_by([&] { std::ignore = semaphore.acquire(n); }), Errc::invalid_argument);
        EXPECT_FALSE(semaphore.try_acquire(n, ec));
        EXPECT_EQ(ec, Errc::invalid_argument);
        EXPECT_FALSE(semaphore.acquire_for(n, 1s, ec));
        EXPECT_EQ(ec, Errc::invalid_argument);
    }
    Locker locker{node_};
    for (const auto& options : {AcquireOptions{.mode = LockMode::shared},
                                AcquireOptions{.queue_policy = QueuePolicy::fifo},
                                AcquireOptions{.locker = locker}, AcquireOptions{.priority = 9}}) {
        EXPECT_FALSE(semaphore.acquire(1, options, ec));
        EXPECT_EQ(ec, Errc::invalid_argument);
    }
    EXPECT_EQ(thrown_by([&] { semaphore.resize(65'537); }), Errc::invalid_argument);
    EXPECT_EQ(thrown_by([&] { Semaphore(node_, "pool", 0); }), Errc::invalid_argument);
    EXPECT_EQ(thrown_by([&] { Semaphore(node_, "pool", 65'537); }), Errc::invalid_argument);
    EXPECT_THROW(Semaphore(node_, "", 1), LockError);
    EXPECT_EQ(node_.list("").size(), 0U);
}

TEST_F(Semaphores, MayOutliveTheirNode) {
    auto semaphore = pool();
    node_.close();
    std::error_code ec;
    EXPECT_FALSE(semaphore.acquire(ec));
    EXPECT_EQ(ec, Errc::node_stopped);
    EXPECT_EQ(thrown_by([&] { std::ignore = semaphore.limit(); }), Errc::node_stopped);
    semaphore.resize(2, ec);
    EXPECT_EQ(ec, Errc::node_stopped);
}

TEST_F(Semaphores, AHolderHearsOfThoseWhoWait) {  // S24
    std::promise<std::size_t> told;
    AcquireOptions options;
    options.on_contended = [&](LockMode, std::size_t waiters, std::string_view) {
        told.set_value(waiters);
    };
    auto semaphore = pool(1);
    auto hold = semaphore.acquire(1, options);
    auto next = std::async(std::launch::async, [&] { return semaphore.acquire(); });
    EXPECT_EQ(told.get_future().get(), 1U);
    hold.unlock();
    EXPECT_TRUE(next.get().valid());
}

TEST_F(Semaphores, ABrokenHoldGivesItsSlotsBack) {  // S24
    auto semaphore = pool(2);
    auto stuck = semaphore.acquire();
    const auto other = semaphore.acquire();
    node_.break_lock("pool", stuck.token(), "stuck");
    ASSERT_TRUE(is_lost(stuck));
    EXPECT_EQ(numbers_of(stuck), Numbers{0});
    EXPECT_EQ(numbers_of(semaphore.acquire()), Numbers{0});
    EXPECT_TRUE(other.valid());
}

TEST_F(Semaphores, AGateRefusesTheFormerHolderOfASlot) {  // S15, P1
    const testkit::TempDirectory directory{"mortise-slots"};
    auto gate = FenceGate::open(directory.path() / "gate");
    auto semaphore = pool(2);
    const auto first = semaphore.acquire();
    auto stale = semaphore.acquire();
    const auto former = stale.slots().front();
    stale.unlock();
    const auto second = semaphore.acquire();
    int effects = 0;
    const auto admits = [&](const Slot& slot) {
        return gate.admit("file", slot.number, slot.token, [&] { ++effects; });
    };
    EXPECT_TRUE(admits(second.slots().front()));
    EXPECT_TRUE(admits(first.slots().front()));  // older, and of another slot
    EXPECT_FALSE(admits(former));
    EXPECT_EQ(effects, 2);
}

TEST_F(Semaphores, AreAcquiredWithCompletionTokens) {
    const auto semaphore = pool(2);
    auto two = async_acquire(semaphore, 2, asio::use_future).get();
    EXPECT_EQ(two.slots().size(), 2U);
    EXPECT_FALSE(async_try_acquire(semaphore, 1, asio::use_future).get());
    EXPECT_FALSE(async_acquire_for(semaphore, 1, 10ms, asio::use_future).get());
    EXPECT_FALSE(
        async_acquire_until(semaphore, 1, std::chrono::steady_clock::now(), asio::use_future)
            .get());
    EXPECT_THROW((void)async_acquire(semaphore, 0, asio::use_future).get(), std::system_error);
    auto next = async_acquire(semaphore, 1, AcquireOptions{.label = "next"}, asio::use_future);
    ASSERT_TRUE(wait_for_waiters("pool", 1));
    two.unlock();
    EXPECT_EQ(numbers_of(next.get()), Numbers{0});
}

TEST(SemaphoreOnThreeNodes, PermitsOfADeadProcessAreFree) {  // P8, S34
    TimingConfig timing;
    timing.election_timeout = 300ms;
    timing.heartbeat = 50ms;
    timing.session_ttl = 1500ms;
    mortise::testkit::LocalCluster cluster{3, timing};
    const auto pool_of = [&](std::size_t index) {
        return Semaphore{cluster.node(index), "pool", 2};
    };
    const auto dead = (cluster.leader().value_or(0) + 1) % 3;
    const auto other = (dead + 1) % 3;
    const auto lost = pool_of(dead).acquire(1);
    const auto kept = pool_of(other).acquire(1);
    EXPECT_EQ(numbers_of(lost), Numbers{0});
    EXPECT_EQ(numbers_of(kept), Numbers{1});
    EXPECT_FALSE(pool_of((dead + 2) % 3).try_acquire());
    cluster.kill(dead);
    const auto next = pool_of((dead + 2) % 3).acquire_for(1, patience);
    ASSERT_TRUE(next);
    EXPECT_EQ(numbers_of(*next), Numbers{0});
    EXPECT_EQ(next->previous().how, Predecessor::expired);
    EXPECT_GT(next->token(), kept.token());
    EXPECT_TRUE(kept.valid());
}

TEST(SemaphoreOnThreeNodes, NodesShareItsPermits) {  // S34
    mortise::testkit::LocalCluster cluster{3};
    Semaphore first{cluster.node(0), "pool", 2};
    Semaphore second{cluster.node(1), "pool", 7};  // its limit comes too late
    auto both = first.acquire(2);
    EXPECT_FALSE(second.try_acquire());
    EXPECT_EQ(second.limit(), 2U);
    auto waits = std::async(std::launch::async, [&] { return second.acquire(2); });
    first.resize(4);
    const auto more = waits.get();
    EXPECT_EQ(numbers_of(more), (Numbers{2, 3}));
    EXPECT_GT(more.token(), both.token());
}

}  // namespace
}  // namespace mortise
