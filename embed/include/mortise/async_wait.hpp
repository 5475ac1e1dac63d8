// Waits for latches and barriers without a thread that waits, with any completion token of Asio.
// <mortise/async.hpp> includes it, and says what holds for all of them: when and where the handler
// is called, what a cancellation does, and what happens when the node is closed.
//
//   asio::awaitable<void> party(mortise::Barrier barrier) {
//       co_await mortise::async_arrive_and_wait(barrier, asio::use_awaitable);
//   }
//
// The object is used by the function alone, and may be gone when the operation ends. A cancelled
// arrival at a barrier breaks it, as one that gives up does.
#pragma once

#include <chrono>
#include <cstddef>
#include <system_error>
#include <utility>

#include <asio/async_result.hpp>

#include <mortise/barrier.hpp>
#include <mortise/detail/async_finish.hpp>
#include <mortise/detail/start.hpp>
#include <mortise/duration.hpp>
#include <mortise/latch.hpp>
#include <mortise/wait_options.hpp>

#include <mortise/detail/macros_aside.hpp>

namespace mortise {

using WaitSignature = void(std::error_code);
// False without an error: the time ended first.
using TimedWaitSignature = void(std::error_code, bool);

template <class Token>
concept WaitToken = asio::completion_token_for<Token, WaitSignature>;
template <class Token>
concept TimedWaitToken = asio::completion_token_for<Token, TimedWaitSignature>;

namespace detail {

template <class Object, class Token>
auto async_wait_order(const Object& object, WaitOptions options, Token&& token) {
    const auto wait_max = options.wait_max;
    return asio::async_initiate<Token, WaitSignature>(
        StartWait{runtime_of(object), wait_max}, token,
        order_of(object, std::move(options), Deadline::max()));
}
template <class Object, class Token>
auto async_timed_order(StartTimedWait start, const Object& object, WaitOptions options,
                       Deadline deadline, Token&& token) {
    return asio::async_initiate<Token, TimedWaitSignature>(
        std::move(start), token, order_of(object, std::move(options), deadline));
}

}  // namespace detail

// --- latches -------------------------------------------------------------------------------------

// See Latch::wait. Time limits begin when the token starts the operation.
template <WaitToken Token>
auto async_wait(const Latch& latch, WaitOptions options, Token&& token) {
    return detail::async_wait_order(latch, std::move(options), std::forward<Token>(token));
}
template <WaitToken Token>
auto async_wait(const Latch& latch, Token&& token) {
    return async_wait(latch, WaitOptions{}, std::forward<Token>(token));
}

// See Latch::wait_until and Latch::wait_for.
template <TimedWaitToken Token>
auto async_wait_until(const Latch& latch, std::chrono::steady_clock::time_point deadline,
                      WaitOptions options, Token&& token) {
    return detail::async_timed_order(detail::StartTimedWait{detail::runtime_of(latch)}, latch,
                                     std::move(options), deadline, std::forward<Token>(token));
}
template <TimedWaitToken Token>
auto async_wait_until(const Latch& latch, std::chrono::steady_clock::time_point deadline,
                      Token&& token) {
    return async_wait_until(latch, deadline, WaitOptions{}, std::forward<Token>(token));
}
template <TimedWaitToken Token>
auto async_wait_for(const Latch& latch, Duration time, WaitOptions options, Token&& token) {
    return detail::async_timed_order(detail::StartTimedWait{detail::runtime_of(latch), time}, latch,
                                     std::move(options), detail::Deadline::max(),
                                     std::forward<Token>(token));
}
template <TimedWaitToken Token>
auto async_wait_for(const Latch& latch, Duration time, Token&& token) {
    return async_wait_for(latch, time, WaitOptions{}, std::forward<Token>(token));
}

// See Latch::count_down. It cannot be cancelled: whether it was counted would be unknown. To arrive
// and wait, count and then wait.
template <WaitToken Token>
auto async_count_down(const Latch& latch, std::ptrdiff_t n, Token&& token) {
    return asio::async_initiate<Token, WaitSignature>(detail::StartWait{detail::runtime_of(latch)},
                                                      token, detail::count_of(latch, n));
}
template <WaitToken Token>
auto async_count_down(const Latch& latch, Token&& token) {
    return async_count_down(latch, 1, std::forward<Token>(token));
}

// --- barriers ------------------------------------------------------------------------------------

// See Barrier::arrive_and_wait.
template <WaitToken Token>
auto async_arrive_and_wait(const Barrier& barrier, WaitOptions options, Token&& token) {
    return detail::async_wait_order(barrier, std::move(options), std::forward<Token>(token));
}
template <WaitToken Token>
auto async_arrive_and_wait(const Barrier& barrier, Token&& token) {
    return async_arrive_and_wait(barrier, WaitOptions{}, std::forward<Token>(token));
}

// See Barrier::arrive_and_wait_until and Barrier::arrive_and_wait_for.
template <TimedWaitToken Token>
auto async_arrive_and_wait_until(const Barrier& barrier,
                                 std::chrono::steady_clock::time_point deadline,
                                 WaitOptions options, Token&& token) {
    return detail::async_timed_order(detail::StartTimedWait{detail::runtime_of(barrier)}, barrier,
                                     std::move(options), deadline, std::forward<Token>(token));
}
template <TimedWaitToken Token>
auto async_arrive_and_wait_until(const Barrier& barrier,
                                 std::chrono::steady_clock::time_point deadline, Token&& token) {
    return async_arrive_and_wait_until(barrier, deadline, WaitOptions{},
                                       std::forward<Token>(token));
}
template <TimedWaitToken Token>
auto async_arrive_and_wait_for(const Barrier& barrier, Duration time, WaitOptions options,
                               Token&& token) {
    return detail::async_timed_order(detail::StartTimedWait{detail::runtime_of(barrier), time},
                                     barrier, std::move(options), detail::Deadline::max(),
                                     std::forward<Token>(token));
}
template <TimedWaitToken Token>
auto async_arrive_and_wait_for(const Barrier& barrier, Duration time, Token&& token) {
    return async_arrive_and_wait_for(barrier, time, WaitOptions{}, std::forward<Token>(token));
}

}  // namespace mortise

#include <mortise/detail/macros_back.hpp>
