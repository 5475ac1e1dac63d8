// Holders that are notified of contention (S24).
#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <asio/use_future.hpp>

#include "tests/embed/one_node.hpp"
#include <mortise/async.hpp>
#include <mortise/testkit/local_cluster.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;

// The notifications of a holder.
class Told {
public:
    [[nodiscard]] AcquireOptions options() {
        AcquireOptions options;
        options.on_contended = [this](LockMode mode, std::size_t waiters, std::string_view reason) {
            const std::scoped_lock lock{mutex_};
            all_.push_back(std::string{to_string(mode)} + " " + std::to_string(waiters) +
                           (reason.empty() ? "" : " " + std::string{reason}));
            more_.notify_all();
        };
        return options;
    }
    [[nodiscard]] std::vector<std::string> all() const {
        const std::scoped_lock lock{mutex_};
        return all_;
    }
    // Empty if there are not so many in time.
    [[nodiscard]] std::string newest_of(std::size_t count) const {
        std::unique_lock lock{mutex_};
        const bool came = more_.wait_for(lock, patience, [&] { return all_.size() >= count; });
        return came ? all_.back() : std::string{};
    }

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable more_;
    std::vector<std::string> all_;
};

class OnContended : public OneNode {
protected:
    [[nodiscard]] std::future<Hold> wait_for(const char* name) {
        return std::async(std::launch::async, [this, name] { return node_.acquire(name); });
    }
};

TEST_F(OnContended, TellsTheHolderAndNobodyElse) {
    Told told;
    auto hold = node_.acquire("a", told.options());
    auto next = wait_for("a");
    EXPECT_EQ(told.newest_of(1), "exclusive 1");
    EXPECT_FALSE(hold.release());
    auto granted = next.get();
    auto after = wait_for("a");
    ASSERT_TRUE(wait_for_waiters("a", 1));
    EXPECT_FALSE(granted.release());
    (void)after.get();
    EXPECT_EQ(told.all().size(), 1U);
}

// P10: a value that a callable captured may take long to be destroyed, or acquire a lock, when the
// hold ends. It delays the node in no way.
TEST_F(OnContended, WhatACallableTakesWithItHoldsNobodyUp) {
    // Outlives the test if the waiting thread is slow to continue.
    struct Signals {
        std::promise<void> gone;
        std::promise<void> go;
    };
    const auto signals = std::make_shared<Signals>();
    {
        AcquireOptions options;
        const std::shared_ptr<void> slow{nullptr, [signals](void*) {
                                             signals->gone.set_value();
                                             signals->go.get_future().wait_for(patience);
                                         }};
        options.on_contended = [slow](LockMode, std::size_t, std::string_view) {};
        const auto hold = node_.acquire("a", options);
    }
    EXPECT_EQ(signals->gone.get_future().wait_for(patience), std::future_status::ready);
    std::error_code ec;
    EXPECT_TRUE(node_.acquire_for("b", patience / 3, ec)) << ec.message();
    signals->go.set_value();
}

TEST_F(OnContended, TellsOfThoseWhoWaitedBefore) {
    Told told;
    auto hold = node_.acquire("a");
    auto second =
        std::async(std::launch::async, [&] { return node_.acquire("a", told.options()); });
    ASSERT_TRUE(wait_for_waiters("a", 1));
    auto third = wait_for("a");
    ASSERT_TRUE(wait_for_waiters("a", 2));
    EXPECT_TRUE(told.all().empty());
    EXPECT_FALSE(hold.release());
    auto granted = second.get();
    EXPECT_EQ(told.newest_of(1), "exclusive 1");
    EXPECT_FALSE(granted.release());
    (void)third.get();
}

// Each of the holds has the lock, and each may be what others wait for.
TEST_F(OnContended, TellsEveryHoldOfALocker) {
    Told outer;
    Told inner;
    const Locker locker{node_};
    auto options = outer.options();
    options.locker = locker;
    const auto first = node_.acquire("a", options);
    options = inner.options();
    options.locker = locker;
    auto second = node_.acquire("a", options);
    EXPECT_FALSE(second.release());
    const auto third = node_.acquire("a", options);
    auto next = wait_for("a");
    EXPECT_EQ(outer.newest_of(1), "exclusive 1");
    EXPECT_EQ(inner.newest_of(1), "exclusive 1");
    node_.break_lock("a", first.token(), "enough", BreakMode::immediate);
    (void)next.get();
    EXPECT_EQ(inner.all().size(), 1U);
}

TEST_F(OnContended, IsForHoldsOfSeveralNamesAndForHandlersToo) {
    Told told;
    const auto set =
        node_.acquire_all({{"a", LockMode::exclusive}, {"b", LockMode::exclusive}}, told.options());
    Told other;
    const auto hold = async_acquire(node_, "c", other.options(), asio::use_future).get();
    AcquireOptions reader;
    reader.mode = LockMode::shared;
    reader.wait_max = 1ms;
    EXPECT_THROW((void)node_.acquire("b", reader), LockError);
    EXPECT_THROW((void)node_.acquire("c", reader), LockError);
    EXPECT_EQ(told.newest_of(1), "shared 1");
    EXPECT_EQ(other.newest_of(1), "shared 1");
}

// A slow holder does not get a hundred notifications that it cannot process.
TEST_F(OnContended, ASlowHolderIsToldOfTheNewest) {
    std::promise<void> go_on;
    auto gate = go_on.get_future().share();
    std::mutex mutex;
    std::condition_variable more;
    std::vector<std::size_t> told{0};
    AcquireOptions options;
    options.on_contended = [&, gate](LockMode, std::size_t waiters, std::string_view) {
        gate.wait();
        const std::scoped_lock lock{mutex};
        told.push_back(waiters);
        more.notify_all();
    };
    auto hold = node_.acquire("a", options);
    std::vector<std::future<Hold>> waiters;
    for (std::size_t i = 1; i <= 20; ++i) {
        waiters.push_back(wait_for("a"));
        ASSERT_TRUE(wait_for_waiters("a", i));
    }
    go_on.set_value();
    std::unique_lock lock{mutex};
    const bool heard = more.wait_for(lock, patience, [&] { return told.back() == 20; });
    EXPECT_TRUE(heard);
    EXPECT_LE(told.size(), 3U);  // the first one is running
    lock.unlock();
    EXPECT_FALSE(hold.release());
    for (auto& waiter : waiters)
        (void)waiter.get().release();
}

class RequestRelease : public OnContended {};

TEST_F(RequestRelease, IsHeardByTheHolder) {
    Told told;
    auto hold = node_.acquire("a", told.options());
    node_.request_release("a", "upgrade of the schema");
    EXPECT_EQ(told.newest_of(1), "exclusive 0 upgrade of the schema");
    EXPECT_TRUE(hold.valid());  // a release is up to the holder
}

TEST_F(RequestRelease, SaysWhenNobodyHoldsIt) {
    std::error_code ec;
    node_.request_release("a", "please", ec);
    EXPECT_EQ(ec, Errc::not_held);
    EXPECT_THROW(node_.request_release("a", "please"), LockError);
}

TEST_F(RequestRelease, RefusesWhatMakesNoSense) {
    const auto hold = node_.acquire("a");
    std::error_code ec;
    node_.request_release("", "please", ec);
    EXPECT_EQ(ec, Errc::invalid_argument);
    node_.request_release("a", std::string(257, 'x'), ec);
    EXPECT_EQ(ec, Errc::invalid_argument);
    node_.request_release("a", std::string(256, 'x'), ec);
    EXPECT_FALSE(ec);
}

// The leader fails, and the caller is answered; the holder is notified once, and the next request
// is a new one.
TEST(RequestReleaseOnACluster, OutlivesALeader) {
    testkit::LocalCluster cluster{3};
    ASSERT_TRUE(cluster.wait_ready(patience));
    Told told;
    const auto leader = cluster.leader().value();
    const auto hold = cluster.node((leader + 1) % 3).acquire("a", told.options());
    cluster.kill(leader);
    cluster.node((leader + 2) % 3).request_release("a", "please");
    EXPECT_EQ(told.newest_of(1), "exclusive 0 please");
    cluster.node((leader + 2) % 3).request_release("a", "at last");
    EXPECT_EQ(told.newest_of(2), "exclusive 0 at last");
    EXPECT_EQ(told.all().size(), 2U);
    EXPECT_TRUE(hold.valid());
}

}  // namespace
}  // namespace mortise
