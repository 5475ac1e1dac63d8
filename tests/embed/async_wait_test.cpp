// <mortise/async_wait.hpp>: waits of latches and barriers without a thread that waits.
#include <future>
#include <stop_token>
#include <utility>

#include <asio/awaitable.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>
#include <gtest/gtest.h>

#include "tests/embed/one_node.hpp"
#include <mortise/async.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;

// A handler that keeps its error.
struct ErrorKept {
    std::promise<std::error_code> told;
    std::future<std::error_code> error = told.get_future();

    auto handler() {
        return [this](std::error_code ec) { told.set_value(ec); };
    }
    [[nodiscard]] bool is_pending() const {
        return error.wait_for(0s) != std::future_status::ready;
    }
};

std::error_code error_of(std::future<void> future) {
    try {
        future.get();
    } catch (const std::system_error& error) {
        return error.code();
    }
    return {};
}

class AsyncWait : public OneNode {
protected:
    [[nodiscard]] Latch latch(std::ptrdiff_t expected = 1) { return {node_, "ready", expected}; }
    [[nodiscard]] Barrier barrier(std::ptrdiff_t parties = 2) { return {node_, "step", parties}; }
};

// --- latches

TEST_F(AsyncWait, ALatchCallsWhoWaitsWhenAllIsCounted) {
    ErrorKept first;
    auto ready = latch(2);
    async_wait(ready, {.label = "worker"}, first.handler());
    ASSERT_TRUE(wait_for_waiters("ready", 1));
    EXPECT_EQ(node_.inspect("ready").waiters.at(0).label, "worker");
    async_count_down(ready, asio::use_future).get();
    EXPECT_TRUE(first.is_pending());
    async_count_down(ready, 1, asio::use_future).get();
    EXPECT_FALSE(first.error.get());
    async_wait(ready, asio::use_future).get();
}

TEST_F(AsyncWait, TheObjectMayBeGoneAtTheEnd) {
    std::future<void> waits;
    {
        const auto ready = latch();
        waits = async_wait(ready, asio::use_future);
    }
    latch().count_down();
    waits.get();
}

TEST_F(AsyncWait, TheEndOfTheTimeIsFalseOrAnError) {
    const auto later = std::chrono::steady_clock::now() + 5ms;
    EXPECT_FALSE(async_wait_for(latch(), 5ms, asio::use_future).get());
    EXPECT_FALSE(async_wait_until(latch(), later, asio::use_future).get());
    EXPECT_EQ(error_of(async_wait(latch(), {.wait_max = 5ms}, asio::use_future)), Errc::timed_out);
    latch().count_down();
    EXPECT_TRUE(async_wait_for(latch(), patience, asio::use_future).get());
}

TEST_F(AsyncWait, ATimeThatIsOverLooksOnce) {
    EXPECT_FALSE(async_wait_for(latch(), 0s, asio::use_future).get());
    EXPECT_FALSE(node_.inspect("ready").is_used()) << "a look creates nothing";
    EXPECT_TRUE(async_wait_for(latch(0), -1s, asio::use_future).get());
    latch().count_down();
    EXPECT_TRUE(async_wait_until(latch(), {}, asio::use_future).get());
    const auto hold = node_.acquire("lock");
    std::promise<std::error_code> told;
    async_wait_for(Latch{node_, "lock", 1}, 0s,
                   [&](std::error_code ec, bool) { told.set_value(ec); });
    EXPECT_EQ(told.get_future().get(), Errc::kind_mismatch);
}

TEST_F(AsyncWait, WhatIsRefusedIsAnError) {
    latch().count_down();
    EXPECT_EQ(error_of(async_count_down(latch(), asio::use_future)), Errc::invalid_argument);
    EXPECT_EQ(error_of(async_count_down(latch(), -1, asio::use_future)), Errc::invalid_argument);
    const WaitOptions long_label{.label = std::string(257, 'l')};
    EXPECT_EQ(error_of(async_wait(latch(), long_label, asio::use_future)), Errc::invalid_argument);
    auto moved = latch();
    const auto other = std::move(moved);
    EXPECT_EQ(error_of(async_wait(moved, asio::use_future)), Errc::node_stopped);
}

// --- barriers

TEST_F(AsyncWait, ABarrierLetsAllPassTogether) {
    ErrorKept first;
    async_arrive_and_wait(barrier(), {.label = "one"}, first.handler());
    ASSERT_TRUE(wait_for_waiters("step", 1));
    EXPECT_TRUE(first.is_pending());
    EXPECT_TRUE(async_arrive_and_wait_for(barrier(), patience, asio::use_future).get());
    EXPECT_FALSE(first.error.get());
    EXPECT_EQ(node_.inspect("step").barrier, (BarrierPhase{2, 0, 1, false}));
}

TEST_F(AsyncWait, APartyWhoseTimeEndsBreaksTheBarrier) {
    EXPECT_FALSE(async_arrive_and_wait_for(barrier(), 5ms, asio::use_future).get());
    EXPECT_EQ(error_of(async_arrive_and_wait(barrier(), asio::use_future)), Errc::session_expired);
}

TEST_F(AsyncWait, APartyArrivesWithTime) {
    std::promise<std::error_code> told;
    async_arrive_and_wait_for(barrier(), 0s, [&](std::error_code ec, bool) { told.set_value(ec); });
    EXPECT_EQ(told.get_future().get(), Errc::invalid_argument);
    EXPECT_FALSE(node_.inspect("step").is_used());
}

// --- the end of a wait

TEST_F(AsyncWait, TheSlotEndsIt) {
    asio::cancellation_signal signal;
    asio::io_context io;
    ErrorKept waits;
    async_wait(latch(), asio::bind_cancellation_slot(signal.slot(),
                                                     asio::bind_executor(io, waits.handler())));
    ASSERT_TRUE(wait_for_waiters("ready", 1));
    signal.emit(asio::cancellation_type::total);
    io.run();
    EXPECT_EQ(waits.error.get(), asio::error::operation_aborted);
    EXPECT_TRUE(wait_for_waiters("ready", 0));
}

TEST_F(AsyncWait, ACountHasNoSlot) {
    asio::cancellation_signal signal;
    asio::io_context io;
    ErrorKept counts;
    async_count_down(latch(), asio::bind_cancellation_slot(
                                  signal.slot(), asio::bind_executor(io, counts.handler())));
    EXPECT_FALSE(signal.slot().has_handler());
    signal.emit(asio::cancellation_type::total);
    io.run();
    EXPECT_FALSE(counts.error.get());
    EXPECT_TRUE(latch().try_wait());
}

TEST_F(AsyncWait, TheTokenOfTheOptionsEndsIt) {
    std::stop_source stop;
    auto early = async_wait(latch(), {.cancel = stop.get_token()}, asio::use_future);
    auto arrives = async_arrive_and_wait(barrier(), {.cancel = stop.get_token()}, asio::use_future);
    ASSERT_TRUE(wait_for_waiters("ready", 1));
    ASSERT_TRUE(wait_for_waiters("step", 1));
    stop.request_stop();
    EXPECT_EQ(error_of(std::move(early)), Errc::cancelled);
    EXPECT_EQ(error_of(std::move(arrives)), Errc::cancelled);
    const WaitOptions over{.cancel = stop.get_token()};
    EXPECT_EQ(error_of(async_wait(latch(), over, asio::use_future)), Errc::cancelled);
}

TEST_F(AsyncWait, ClosingTheNodeEndsIt) {
    const auto ready = latch();
    auto waits = async_wait(ready, asio::use_future);
    auto arrives = async_arrive_and_wait(barrier(), asio::use_future);
    ASSERT_TRUE(wait_for_waiters("step", 1));
    node_.close();
    EXPECT_EQ(error_of(std::move(waits)), Errc::node_stopped);
    EXPECT_EQ(error_of(std::move(arrives)), Errc::node_stopped);
    EXPECT_EQ(error_of(async_wait(ready, asio::use_future)), Errc::node_stopped);
    EXPECT_EQ(error_of(async_count_down(ready, asio::use_future)), Errc::node_stopped);
}

// --- coroutines

asio::awaitable<void> party(Barrier barrier, Latch done) {
    for (int phase = 0; phase < 3; ++phase)
        co_await async_arrive_and_wait(barrier, asio::use_awaitable);
    co_await async_count_down(done, asio::use_awaitable);
    co_await async_wait(done, asio::use_awaitable);
}

TEST_F(AsyncWait, CoroutinesOfOneThreadMeet) {
    asio::io_context io;
    std::vector<std::future<void>> parties;
    for (int i = 0; i < 3; ++i)
        parties.push_back(asio::co_spawn(io, party(barrier(3), latch(3)), asio::use_future));
    io.run();
    for (auto& one : parties)
        one.get();
    EXPECT_EQ(node_.inspect("step").barrier, (BarrierPhase{3, 0, 3, false}));
}

}  // namespace
}  // namespace mortise
