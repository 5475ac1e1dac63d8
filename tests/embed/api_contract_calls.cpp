// Every signature of the public interface, called once on a running node.
#include <algorithm>
#include <chrono>
#include <future>
#include <mutex>
#include <optional>
#include <ranges>
#include <shared_mutex>
#include <span>
#include <string>
#include <system_error>
#include <tuple>
#include <vector>

#include <asio/experimental/deferred.hpp>
#include <asio/use_future.hpp>
#include <gtest/gtest.h>

#include "tests/embed/one_node.hpp"
#include <mortise/async.hpp>
#include <mortise/mortise.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;

class ApiContractCalls : public OneNode {
protected:
    static std::chrono::steady_clock::time_point later() {
        return std::chrono::steady_clock::now() + patience;
    }

    const AcquireOptions options_{.label = "label"};
    std::error_code ec_ = Errc::invalid_argument;  // to be cleared by the call
};

TEST_F(ApiContractCalls, Acquire) {
    Hold hold = node_.acquire("a");
    EXPECT_TRUE(hold && hold.valid());
    hold = node_.acquire("b", options_);
    hold = node_.acquire("c", ec_);
    EXPECT_FALSE(ec_);
    hold = node_.acquire("d", options_, ec_);
    EXPECT_EQ(hold.name(), "d");
    hold = node_.acquire("e", {.label = "designated", .wait_max = 5s});
    EXPECT_EQ(hold.release(), std::error_code{});
}

TEST_F(ApiContractCalls, ValuesAndBreaking) {
    Hold hold = node_.acquire("v");
    hold.set_value("one");
    hold.set_value("two", ec_);
    EXPECT_FALSE(ec_);
    EXPECT_EQ(hold.value(), "two");
    hold.consistent();
    ec_ = Errc::invalid_argument;
    hold.consistent(ec_);
    EXPECT_EQ(hold.value(ec_), "two");
    EXPECT_FALSE(ec_);
    node_.break_lock("v", hold.token(), "reason");
    hold = node_.acquire("v");
    node_.break_lock("v", hold.token(), "reason", BreakMode::immediate);
    hold = node_.acquire("v");
    node_.break_lock("v", hold.token(), "reason", ec_);
    EXPECT_FALSE(ec_);
    hold = node_.acquire("v");
    node_.break_lock("v", hold.token(), "reason", BreakMode::confirmed, ec_);
    EXPECT_FALSE(ec_);
    hold = node_.acquire("v");
    node_.request_release("v", "reason");
    node_.request_release("v", "reason", ec_);
    EXPECT_FALSE(ec_);
}

// The only possible answers are a lock or an error, however short the wait is.
TEST_F(ApiContractCalls, AcquireThatMayNotWaitTimesOut) {
    const auto holder = node_.acquire("x");
    for (const auto wait_max : {0ms, -1ms}) {
        EXPECT_FALSE(node_.acquire("x", {.wait_max = wait_max}, ec_));
        EXPECT_EQ(ec_, Errc::timed_out);
        EXPECT_THROW(std::ignore = node_.acquire("x", {.wait_max = wait_max}), LockError);
        auto future = async_acquire(node_, "x", {.wait_max = wait_max}, asio::use_future);
        EXPECT_THROW(std::ignore = future.get(), std::system_error);
        EXPECT_TRUE(node_.acquire("free", {.wait_max = wait_max}));
    }
}

TEST_F(ApiContractCalls, AsManyCallsAsAreAllowed) {
    auto config = Config::in_memory();
    config.limits.calls = 2;
    Node node{config};
    ASSERT_TRUE(node.wait_ready(later()));
    Hold holder = node.acquire("x");
    auto first = async_acquire(node, "x", asio::use_future);
    auto second = async_acquire(node, "x", asio::use_future);
    EXPECT_FALSE(node.acquire("y", ec_));
    EXPECT_EQ(ec_, Errc::resource_exhausted);
    EXPECT_EQ(node.metrics().calls_refused, 1U);
    EXPECT_FALSE(holder.release());  // a release is never refused
    Hold next = first.get();
    next.unlock();
    EXPECT_TRUE(second.get().valid());
    for (int i = 0; i < 100; ++i)  // one at a time; finished calls do not count
        EXPECT_TRUE(node.acquire("y", ec_)) << ec_.message();
}

// More names than a node can have in progress at once: a released name is forgotten.
TEST_F(ApiContractCalls, ANodeMayUseAnyNumberOfNamesOneAfterAnother) {
    for (int i = 0; i < 2'100; ++i) {
        auto hold = node_.acquire(std::to_string(i), {.wait_max = 10s}, ec_);
        ASSERT_TRUE(hold) << i << ": " << ec_.message();
    }
}

TEST_F(ApiContractCalls, AListMayBeLongerThanAPage) {
    std::vector<std::future<Hold>> granted;
    std::vector<Hold> holds;
    constexpr std::size_t many = 2'001;
    for (std::size_t i = 0; i < many; ++i)
        granted.push_back(async_acquire(node_, std::to_string(10'000 + i), asio::use_future));
    for (auto& one : granted)
        holds.push_back(one.get());
    EXPECT_EQ(node_.list("1", {}, 1'500).size(), 1'500U);
    const auto all = node_.list("1", {}, 100'000);
    ASSERT_EQ(all.size(), many);
    EXPECT_EQ(all.back().name, "12000");
    EXPECT_TRUE(node_.list("1", {}, 0).empty());
}

TEST_F(ApiContractCalls, TryAcquire) {
    std::optional<Hold> hold = node_.try_acquire("a");
    EXPECT_TRUE(hold);
    LockInfo busy;
    EXPECT_FALSE(node_.try_acquire("a", ec_));
    EXPECT_FALSE(ec_);
    EXPECT_FALSE(node_.try_acquire("a", options_));
    EXPECT_FALSE(node_.try_acquire("a", options_, ec_));
    EXPECT_FALSE(node_.try_acquire("a", busy));
    EXPECT_EQ(busy.holders.at(0).token, hold->token());
    EXPECT_FALSE(node_.try_acquire("a", options_, busy));
}

TEST_F(ApiContractCalls, AcquireForAndUntil) {  // P6
    std::optional<Hold> hold = node_.acquire_for("a", 500ms);
    EXPECT_TRUE(hold);
    EXPECT_TRUE(node_.acquire_for("b", std::chrono::hours::max(), options_));
    EXPECT_TRUE(node_.acquire_for("c", 1min, ec_));
    EXPECT_TRUE(node_.acquire_for("d", 0s, options_, ec_));
    EXPECT_FALSE(node_.acquire_for("a", -1s));
    EXPECT_TRUE(node_.acquire_until("e", later()));
    EXPECT_TRUE(node_.acquire_until("f", later(), options_));
    EXPECT_TRUE(node_.acquire_until("g", later(), ec_));
    EXPECT_TRUE(node_.acquire_until("h", later(), options_, ec_));
    EXPECT_FALSE(ec_);
}

TEST_F(ApiContractCalls, Convert) {
    Hold hold = node_.acquire("a", {.mode = LockMode::update});
    hold.upgrade();
    hold.downgrade(LockMode::update);
    hold.upgrade(ec_);
    EXPECT_FALSE(ec_);
    hold.downgrade(LockMode::update, ec_);
    EXPECT_FALSE(ec_);
    hold.upgrade(later());
    hold.downgrade(LockMode::shared);
    hold.upgrade(later(), ec_);
    EXPECT_FALSE(ec_);
    hold.downgrade(LockMode::shared);
    hold.upgrade(later(), std::stop_token{}, ec_);
    EXPECT_FALSE(ec_);
    hold.downgrade(LockMode::shared);
    EXPECT_TRUE(hold.try_upgrade());
    hold.downgrade(LockMode::shared);
    EXPECT_TRUE(hold.try_upgrade(ec_));
    EXPECT_EQ(hold.mode(), LockMode::exclusive);
}

TEST_F(ApiContractCalls, AcquireAll) {
    const std::vector<LockRequest> requests{{.name = "a", .mode = LockMode::shared}, {.name = "b"}};
    const std::span<const LockRequest> span = requests;
    EXPECT_TRUE(node_.acquire_all(requests));
    EXPECT_TRUE(node_.acquire_all(span));
    EXPECT_TRUE(node_.acquire_all(span, options_));
    EXPECT_TRUE(node_.acquire_all(span, ec_));
    EXPECT_TRUE(node_.acquire_all(span, options_, ec_));
    EXPECT_FALSE(ec_);
    EXPECT_TRUE(node_.acquire_all({{"a", LockMode::shared}, {"b"}}));
    EXPECT_TRUE(node_.acquire_all({{"a", LockMode::shared}, {"b"}}, options_));
    EXPECT_TRUE(node_.acquire_all({{"a", LockMode::shared}, {"b"}}, ec_));
    EXPECT_TRUE(node_.acquire_all({{"a", LockMode::shared}, {"b"}}, {.label = "l"}, ec_));
    EXPECT_TRUE(node_.acquire_all({"a"}));
    EXPECT_TRUE(node_.acquire_all({"a", "b"}));
    EXPECT_TRUE(node_.acquire_all({"a", "b"}, {.label = "l"}));
    EXPECT_TRUE(node_.acquire_all({"a", "b"}, ec_));
    HoldSet holds = node_.acquire_all({"a", "b", "c"}, options_, ec_);
    EXPECT_FALSE(ec_);
    EXPECT_TRUE(holds && holds.valid() && !holds.empty());
    EXPECT_EQ(std::ranges::distance(holds), 3);
    for (const Hold& hold : holds)
        EXPECT_TRUE(hold.valid());
    EXPECT_FALSE(holds.lost().stop_requested());
    EXPECT_EQ(holds.release(), std::error_code{});
}

TEST_F(ApiContractCalls, AcquireAny) {
    const std::vector<LockRequest> requests{{.name = "a"}, {.name = "b"}};
    const std::span<const LockRequest> span = requests;
    EXPECT_TRUE(node_.acquire_any(span));
    EXPECT_TRUE(node_.acquire_any(span, options_));
    EXPECT_TRUE(node_.acquire_any(span, ec_));
    EXPECT_TRUE(node_.acquire_any({"a", "b"}, options_, ec_));
    EXPECT_FALSE(ec_);
    Hold hold = node_.acquire_any({{"a", LockMode::shared}, {"b"}});
    EXPECT_EQ(hold.name(), "a");
    EXPECT_TRUE(node_.try_acquire_any(span));
    EXPECT_TRUE(node_.try_acquire_any(span, options_));
    EXPECT_TRUE(node_.try_acquire_any(span, ec_));
    EXPECT_TRUE(node_.try_acquire_any({"x", "y"}, options_, ec_));
    std::optional<Hold> tried = node_.try_acquire_any({{"x", LockMode::shared}, {"y"}});
    EXPECT_TRUE(tried);
    EXPECT_FALSE(ec_);
}

TEST_F(ApiContractCalls, Look) {
    const auto hold = node_.acquire("x/1", options_);
    LockInfo lock = node_.inspect("x/1");
    EXPECT_EQ(lock.holders.at(0).label, "label");
    lock = node_.inspect("x/1", ReadLevel::local);
    lock = node_.inspect("x/1", ec_);
    lock = node_.inspect("x/1", ReadLevel::linearizable, ec_);
    lock = node_.inspect("x/1", ReadLevel::local, 10, ec_);
    EXPECT_FALSE(ec_);
    std::vector<LockInfo> locks = node_.list("x/");
    EXPECT_EQ(locks.size(), 1U);
    EXPECT_TRUE(node_.list("x/", "x/1", 10, ReadLevel::local).empty());
    EXPECT_EQ(node_.list("x/", ec_).size(), 1U);
    EXPECT_TRUE(node_.list("x/", "x/1", 10, ReadLevel::linearizable, ec_).empty());
    const auto unknown = node_.inspect("unknown");
    EXPECT_EQ(unknown.name, "unknown");
    EXPECT_FALSE(unknown.is_held());
}

TEST_F(ApiContractCalls, TheNode) {
    EXPECT_TRUE(node_.wait_ready(later()));
    EXPECT_TRUE(node_.wait_ready(later(), ec_));
    EXPECT_FALSE(ec_);
    EXPECT_EQ(node_.id(), NodeId{1});
    const Status status = node_.status();
    EXPECT_TRUE(status.ready);
    const Metrics metrics = node_.metrics();
    EXPECT_EQ(metrics.acquires, 0U);
    EXPECT_EQ(node_.sessions().size(), 1U);
    EXPECT_EQ(node_.sessions(ReadLevel::local, ec_).size(), 1U);
    Subscription subscription = node_.on_event([](const NodeEvent&) {});
    Subscription readings = node_.on_metrics(1s, [](const Metrics&) {});
    EXPECT_TRUE(readings);
    EXPECT_TRUE(subscription);
    subscription.end();
    Node moved = std::move(node_);
    moved.close();
    moved.close();
    EXPECT_TRUE(moved.status().stopped);
}

TEST_F(ApiContractCalls, Observers) {
    const EventSink sink = [](const Event&) {};
    const ObserveOptions from{.from = Position{}};
    Subscription all = node_.observe("a", sink);
    Subscription one = node_.observe("a", sink, from);
    EXPECT_TRUE(all && one);
    EXPECT_TRUE(node_.observe("a", sink, ec_));
    EXPECT_FALSE(ec_);
    EXPECT_TRUE(node_.observe("a", sink, {.from = {}, .only_this_name = true}, ec_));
    const Position position;
    EXPECT_EQ(Position::from_string(position.to_string()), position);
    EXPECT_FALSE(position.is_set());
}

TEST_F(ApiContractCalls, Elections) {
    Election election{node_, "e"};
    EXPECT_EQ(election.name(), "e");
    Hold hold = election.campaign("one");
    election.resign(hold);
    hold = election.campaign("two", options_);
    election.resign(hold, ec_);
    EXPECT_FALSE(ec_);
    hold = election.campaign("three", ec_);
    election.resign(hold);
    hold = election.campaign("four", options_, ec_);
    const std::optional<Leader> leader = election.leader();
    EXPECT_EQ(election.leader(ec_), leader);
    EXPECT_EQ(leader.value().token, hold.token());
    const LeaderSink sink = [](const std::optional<Leader>&) {};
    Subscription first = election.observe(sink);
    Subscription second = election.observe(sink, ec_);
    EXPECT_TRUE(first && second);
    election.resign(hold);
    hold = async_campaign(election, "five", asio::use_future).get();
    election.resign(hold);
    hold = async_campaign(election, "six", options_, asio::use_future).get();
    EXPECT_TRUE(hold.valid());
}

TEST_F(ApiContractCalls, HoldsMove) {
    Hold first = node_.acquire("a");
    const auto token = first.token();
    Hold second = std::move(first);
    EXPECT_EQ(second.token(), token);
    EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): it is defined
    EXPECT_EQ(first.release(), Errc::not_held);
    second = Hold{};
    EXPECT_TRUE(node_.acquire_for("a", patience));
}

TEST_F(ApiContractCalls, Lockers) {
    Locker locker{node_};
    const Locker labelled{node_, "label"};
    auto hold = node_.acquire("x", {.locker = locker});
    EXPECT_TRUE(node_.try_acquire("x", {.locker = locker}));
    EXPECT_EQ(locker.hold_count(), 1U);
    locker.release_all();
    EXPECT_EQ(labelled.hold_count(), 0U);
}

TEST_F(ApiContractCalls, RecursiveMutexes) {
    RecursiveMutex mutex{node_, "r", {.label = "label"}};
    const std::scoped_lock outer{mutex};
    EXPECT_TRUE(mutex.try_lock_for(1s));
    EXPECT_TRUE(mutex.owned_by_this_thread() && mutex.hold().valid());
    mutex.unlock();
}

TEST_F(ApiContractCalls, Mutexes) {
    Mutex mutex{node_, "m"};
    Mutex labelled{node_, "labelled", {.label = "label"}};
    SharedMutex shared{node_, "s", options_};
    const std::scoped_lock both{mutex, labelled};
    const std::shared_lock reader{shared};
    EXPECT_TRUE(mutex.owned_by_this_thread() && labelled.hold().valid());
    EXPECT_EQ(shared.hold().mode(), LockMode::shared);
}

TEST_F(ApiContractCalls, Async) {
    using asio::use_future;
    const std::string name = "x";
    const auto done = [](std::future<Hold> future) {
        Hold hold = future.get();
        EXPECT_TRUE(hold.valid());
        std::future<void> released = async_release(std::move(hold), use_future);
        released.get();
    };
    done(async_acquire(node_, name, use_future));
    done(async_acquire(node_, name, options_, use_future));
    done(async_try_acquire(node_, name, use_future));
    done(async_try_acquire(node_, name, options_, use_future));
    done(async_acquire_for(node_, name, 30s, use_future));
    done(async_acquire_for(node_, name, 30s, options_, use_future));
    done(async_acquire_until(node_, name, later(), use_future));
    done(async_acquire_until(node_, name, later(), options_, use_future));
    done(async_acquire(node_, "x", asio::experimental::deferred)(use_future));
    const std::vector<LockRequest> names{{"x"}, {"y"}};
    done(async_acquire_any(node_, names, use_future));
    done(async_acquire_any(node_, names, options_, use_future));
    std::future<HoldSet> all = async_acquire_all(node_, names, use_future);
    EXPECT_EQ(all.get().release(), std::error_code{});
    all = async_acquire_all(node_, names, options_, use_future);
    EXPECT_EQ(all.get().size(), 2U);
}

}  // namespace
}  // namespace mortise
