// Acquires and releases without a thread that waits, with any completion token of Asio: a callback,
// asio::use_future, asio::use_awaitable, asio::experimental::deferred and so on.
//
//   asio::awaitable<void> work(mortise::Node& node) {
//       auto hold = co_await mortise::async_acquire(node, "orders/42", asio::use_awaitable);
//       ...
//       co_await mortise::async_release(std::move(hold), asio::use_awaitable);
//   }
//
// Completion: the handler is called once, and never by the function that began the operation. It is
// called through asio::dispatch on its associated executor, and counts as outstanding work of that
// executor until then. A handler without an executor is called on a thread of the node; there it
// must not block, and its exceptions are dropped. A handler may be move-only.
//
// Blocking: if a handler blocks a thread of the node all the same, other callbacks continue on
// another one after 10 ms, until 512 block. From then on the others wait until one of these ends.
// If each of the 512 waits for something that only a waiting callback would do, such as releasing a
// lock, no callback runs until their calls end by a time limit or by Node::close(). Leases,
// renewals, calls of other threads and the callbacks of Hold::lost() do not depend on that.
//
// Closing: Node::close() ends pending operations with node_stopped before it returns. A Hold that
// the handler does not take is released. The executor must live until its operations are done, or
// the node is closed.
//
// Cancellation: the handler's cancellation slot, with any cancellation type, ends the wait with
// asio::error::operation_aborted; options.cancel ends it with Errc::cancelled. Neither has an
// effect on an operation that is already decided. A cancelled operation holds nothing.
//
// Names and options are taken by value. In a coroutine, name the options and the list of names
// before co_await: g++ 12 destroys aggregate temporaries there while they are still in use.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <asio/async_result.hpp>

#include <mortise/async_wait.hpp>
#include <mortise/detail/async_finish.hpp>
#include <mortise/detail/start.hpp>
#include <mortise/duration.hpp>
#include <mortise/election.hpp>
#include <mortise/hold.hpp>
#include <mortise/hold_set.hpp>
#include <mortise/lock_request.hpp>
#include <mortise/node.hpp>
#include <mortise/options.hpp>
#include <mortise/semaphore.hpp>

#include <mortise/detail/macros_aside.hpp>

namespace mortise {

// An empty Hold without an error means that another holder has the name, or that the time ended
// first; async_acquire has no such answer.
using AcquireSignature = void(std::error_code, Hold);
using AcquireAllSignature = void(std::error_code, HoldSet);
using ReleaseSignature = void(std::error_code);

template <class Token>
concept AcquireToken = asio::completion_token_for<Token, AcquireSignature>;
template <class Token>
concept AcquireAllToken = asio::completion_token_for<Token, AcquireAllSignature>;
template <class Token>
concept ReleaseToken = asio::completion_token_for<Token, ReleaseSignature>;

namespace detail {

template <class Token>
auto async_order(StartAcquire start, AcquireOrder order, Token&& token) {
    return asio::async_initiate<Token, AcquireSignature>(std::move(start), token, std::move(order));
}

}  // namespace detail

// See Node::acquire.
template <AcquireToken Token>
auto async_acquire(const Node& node, std::string name, AcquireOptions options, Token&& token) {
    return detail::async_order(
        detail::StartAcquire{detail::runtime_of(node)},
        detail::AcquireOrder{std::move(name), std::move(options), detail::Attempt::wait},
        std::forward<Token>(token));
}
template <AcquireToken Token>
auto async_acquire(const Node& node, std::string name, Token&& token) {
    return async_acquire(node, std::move(name), AcquireOptions{}, std::forward<Token>(token));
}

// See Node::try_acquire.
template <AcquireToken Token>
auto async_try_acquire(const Node& node, std::string name, AcquireOptions options, Token&& token) {
    return detail::async_order(
        detail::StartAcquire{detail::runtime_of(node)},
        detail::AcquireOrder{std::move(name), std::move(options), detail::Attempt::once},
        std::forward<Token>(token));
}
template <AcquireToken Token>
auto async_try_acquire(const Node& node, std::string name, Token&& token) {
    return async_try_acquire(node, std::move(name), AcquireOptions{}, std::forward<Token>(token));
}

// See Node::acquire_until.
template <AcquireToken Token>
auto async_acquire_until(const Node& node, std::string name,
                         std::chrono::steady_clock::time_point deadline, AcquireOptions options,
                         Token&& token) {
    return detail::async_order(
        detail::StartAcquire{detail::runtime_of(node)},
        detail::AcquireOrder{std::move(name), std::move(options), detail::Attempt::until, deadline},
        std::forward<Token>(token));
}
template <AcquireToken Token>
auto async_acquire_until(const Node& node, std::string name,
                         std::chrono::steady_clock::time_point deadline, Token&& token) {
    return async_acquire_until(node, std::move(name), deadline, AcquireOptions{},
                               std::forward<Token>(token));
}

// See Node::acquire_for. The time begins when the token starts the operation.
template <AcquireToken Token>
auto async_acquire_for(const Node& node, std::string name, Duration wait_max,
                       AcquireOptions options, Token&& token) {
    return detail::async_order(
        detail::StartAcquire{detail::runtime_of(node), wait_max},
        detail::AcquireOrder{std::move(name), std::move(options), detail::Attempt::until},
        std::forward<Token>(token));
}
template <AcquireToken Token>
auto async_acquire_for(const Node& node, std::string name, Duration wait_max, Token&& token) {
    return async_acquire_for(node, std::move(name), wait_max, AcquireOptions{},
                             std::forward<Token>(token));
}

// See Semaphore::acquire.
template <AcquireToken Token>
auto async_acquire(const Semaphore& semaphore, std::uint32_t n, AcquireOptions options,
                   Token&& token) {
    return detail::async_order(detail::StartAcquire{detail::runtime_of(semaphore)},
                               detail::order_of(semaphore, n, std::move(options),
                                                detail::Attempt::wait, detail::Deadline::max()),
                               std::forward<Token>(token));
}
template <AcquireToken Token>
auto async_acquire(const Semaphore& semaphore, std::uint32_t n, Token&& token) {
    return async_acquire(semaphore, n, AcquireOptions{}, std::forward<Token>(token));
}

// See Semaphore::try_acquire.
template <AcquireToken Token>
auto async_try_acquire(const Semaphore& semaphore, std::uint32_t n, AcquireOptions options,
                       Token&& token) {
    return detail::async_order(detail::StartAcquire{detail::runtime_of(semaphore)},
                               detail::order_of(semaphore, n, std::move(options),
                                                detail::Attempt::once, detail::Deadline::max()),
                               std::forward<Token>(token));
}
template <AcquireToken Token>
auto async_try_acquire(const Semaphore& semaphore, std::uint32_t n, Token&& token) {
    return async_try_acquire(semaphore, n, AcquireOptions{}, std::forward<Token>(token));
}

// See Semaphore::acquire_until.
template <AcquireToken Token>
auto async_acquire_until(const Semaphore& semaphore, std::uint32_t n,
                         std::chrono::steady_clock::time_point deadline, AcquireOptions options,
                         Token&& token) {
    return detail::async_order(
        detail::StartAcquire{detail::runtime_of(semaphore)},
        detail::order_of(semaphore, n, std::move(options), detail::Attempt::until, deadline),
        std::forward<Token>(token));
}
template <AcquireToken Token>
auto async_acquire_until(const Semaphore& semaphore, std::uint32_t n,
                         std::chrono::steady_clock::time_point deadline, Token&& token) {
    return async_acquire_until(semaphore, n, deadline, AcquireOptions{},
                               std::forward<Token>(token));
}

// See Semaphore::acquire_for. The time begins when the token starts the operation.
template <AcquireToken Token>
auto async_acquire_for(const Semaphore& semaphore, std::uint32_t n, Duration wait_max,
                       AcquireOptions options, Token&& token) {
    return detail::async_order(detail::StartAcquire{detail::runtime_of(semaphore), wait_max},
                               detail::order_of(semaphore, n, std::move(options),
                                                detail::Attempt::until, detail::Deadline::max()),
                               std::forward<Token>(token));
}
template <AcquireToken Token>
auto async_acquire_for(const Semaphore& semaphore, std::uint32_t n, Duration wait_max,
                       Token&& token) {
    return async_acquire_for(semaphore, n, wait_max, AcquireOptions{}, std::forward<Token>(token));
}

// See Node::acquire_all.
template <AcquireAllToken Token>
auto async_acquire_all(const Node& node, std::vector<LockRequest> names, AcquireOptions options,
                       Token&& token) {
    detail::AcquireOrder order{{}, std::move(options), detail::Attempt::wait};
    order.several = {std::move(names), true};
    return asio::async_initiate<Token, AcquireAllSignature>(
        detail::StartAcquireAll{detail::runtime_of(node)}, token, std::move(order));
}
template <AcquireAllToken Token>
auto async_acquire_all(const Node& node, std::vector<LockRequest> names, Token&& token) {
    return async_acquire_all(node, std::move(names), AcquireOptions{}, std::forward<Token>(token));
}

// See Node::acquire_any.
template <AcquireToken Token>
auto async_acquire_any(const Node& node, std::vector<LockRequest> names, AcquireOptions options,
                       Token&& token) {
    detail::AcquireOrder order{{}, std::move(options), detail::Attempt::wait};
    order.several = {std::move(names), false};
    return detail::async_order(detail::StartAcquire{detail::runtime_of(node)}, std::move(order),
                               std::forward<Token>(token));
}
template <AcquireToken Token>
auto async_acquire_any(const Node& node, std::vector<LockRequest> names, Token&& token) {
    return async_acquire_any(node, std::move(names), AcquireOptions{}, std::forward<Token>(token));
}

// See Election::campaign. A cancellation has no effect any more when the candidate leads and its
// value is being published.
template <AcquireToken Token>
auto async_campaign(const Election& election, std::string value, AcquireOptions options,
                    Token&& token) {
    return asio::async_initiate<Token, AcquireSignature>(
        detail::StartCampaign{detail::runtime_of(election), std::move(value)}, token,
        detail::AcquireOrder{election.name(), std::move(options), detail::Attempt::wait});
}
template <AcquireToken Token>
auto async_campaign(const Election& election, std::string value, Token&& token) {
    return async_campaign(election, std::move(value), AcquireOptions{}, std::forward<Token>(token));
}

// See Hold::release. It cannot be cancelled: a release that has begun is always completed.
template <ReleaseToken Token>
auto async_release(Hold hold, Token&& token) {
    return asio::async_initiate<Token, ReleaseSignature>(detail::StartRelease{}, token,
                                                         std::move(hold));
}

}  // namespace mortise

#include <mortise/detail/macros_back.hpp>
