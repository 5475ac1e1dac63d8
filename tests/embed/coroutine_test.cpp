// <mortise/async.hpp> in coroutines. Not for an Asio that has none.
#include <exception>

#include <asio/awaitable.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/as_tuple.hpp>
#include <asio/io_context.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include "tests/embed/one_node.hpp"
#include <mortise/async.hpp>

#ifdef ASIO_HAS_CO_AWAIT

namespace mortise {
namespace {

constexpr auto as_tuple = asio::experimental::as_tuple(asio::use_awaitable);

// Runs on one thread until all have ended, and rethrows.
class Coroutines : public OneNode {
protected:
    void run(asio::awaitable<void> body) {
        std::exception_ptr problem;
        asio::co_spawn(io_, std::move(body), [&](std::exception_ptr thrown) { problem = thrown; });
        io_.run();
        if (problem) std::rethrow_exception(problem);
    }

    asio::io_context io_;
};

asio::awaitable<void> take_and_give_back(Node& node) {
    const auto thread = std::this_thread::get_id();
    auto hold = co_await async_acquire(node, "x", asio::use_awaitable);
    EXPECT_TRUE(hold.valid());
    EXPECT_EQ(std::this_thread::get_id(), thread);
    co_await async_release(std::move(hold), asio::use_awaitable);
    EXPECT_EQ(std::this_thread::get_id(), thread);
    EXPECT_FALSE(node.inspect("x").is_held());
}

TEST_F(Coroutines, AwaitTheHoldAndItsRelease) {
    run(take_and_give_back(node_));
}

asio::awaitable<void> all_forms(Node& node) {
    const AcquireOptions options{.label = "a label that is too long to be kept in the string"};
    const auto later = std::chrono::steady_clock::now() + patience;
    auto a = co_await async_acquire(node, "a", options, asio::use_awaitable);
    auto b = co_await async_try_acquire(node, "b", options, asio::use_awaitable);
    auto c = co_await async_acquire_for(node, "c", patience, options, asio::use_awaitable);
    auto d = co_await async_acquire_until(node, "d", later, options, asio::use_awaitable);
    EXPECT_TRUE(a.valid() && b.valid() && c.valid() && d.valid());
    for (const auto& lock : node.list("")) {
        EXPECT_EQ(lock.holders.at(0).label, options.label) << lock.name;
    }
}

TEST_F(Coroutines, EveryFormTakesNamedOptions) {
    run(all_forms(node_));
}

asio::awaitable<void> refused(Node& node) {
    const auto [ec, hold] = co_await async_acquire(node, "", as_tuple);
    EXPECT_EQ(ec, Errc::invalid_argument);
    EXPECT_FALSE(hold);
    const auto [release_ec] = co_await async_release(Hold{}, as_tuple);
    EXPECT_EQ(release_ec, Errc::not_held);
    std::ignore = co_await async_acquire(node, "", asio::use_awaitable);
}

TEST_F(Coroutines, ErrorsAreThrownOrGivenAsValues) {
    try {
        run(refused(node_));
        FAIL() << "nothing was thrown";
    } catch (const std::system_error& error) {
        EXPECT_EQ(error.code(), Errc::invalid_argument);
    }
}

asio::awaitable<void> one_of_many(Node& node, int& inside, int& rounds) {
    for (int round = 0; round < 10; ++round) {
        const auto hold = co_await async_acquire(node, "x", asio::use_awaitable);
        EXPECT_EQ(++inside, 1);
        ++rounds;
        co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
        --inside;
    }
}

TEST_F(Coroutines, ManyOnOneThreadExcludeEachOther) {
    int inside = 0;
    int rounds = 0;
    for (int number = 0; number < 5; ++number) {
        asio::co_spawn(io_, one_of_many(node_, inside, rounds), asio::detached);
    }
    io_.run();
    EXPECT_EQ(rounds, 50);
}

asio::awaitable<void> wait_for(Node& node, std::error_code& told) {
    const auto [ec, hold] = co_await async_acquire(node, "x", as_tuple);
    told = ec;
    EXPECT_FALSE(hold);
}

TEST_F(Coroutines, CancellingOneWithdrawsItsRequest) {
    const auto holder = node_.acquire("x");
    asio::cancellation_signal signal;
    std::error_code told;
    asio::co_spawn(io_, wait_for(node_, told),
                   asio::bind_cancellation_slot(signal.slot(), asio::detached));
    io_.poll();
    ASSERT_TRUE(wait_for_waiters("x", 1));
    signal.emit(asio::cancellation_type::terminal);
    io_.run();
    EXPECT_EQ(told, asio::error::operation_aborted);
    EXPECT_TRUE(wait_for_waiters("x", 0));
}

TEST_F(Coroutines, CloseEndsOneThatWaits) {
    const auto holder = node_.acquire("x");
    std::error_code told;
    asio::co_spawn(io_, wait_for(node_, told), asio::detached);
    io_.poll();
    ASSERT_TRUE(wait_for_waiters("x", 1));
    node_.close();
    io_.run();
    EXPECT_EQ(told, Errc::node_stopped);
}

}  // namespace
}  // namespace mortise

#endif
