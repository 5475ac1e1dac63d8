// Calls the Asio handler at the end of an operation. Not for use by programs.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

#include <asio/associated_cancellation_slot.hpp>
#include <asio/associated_executor.hpp>
#include <asio/cancellation_type.hpp>
#include <asio/dispatch.hpp>
#include <asio/error.hpp>
#include <asio/execution/outstanding_work.hpp>
#include <asio/prefer.hpp>

#include <mortise/detail/start.hpp>
#include <mortise/duration.hpp>
#include <mortise/errc.hpp>

namespace mortise::detail {

// An executor that runs functions in place. A handler without an executor of its own would
// otherwise get Asio's system executor, and threads with it.
struct OnThisThread {
    template <class F>
    void execute(F&& body) const {
        std::forward<F>(body)();
    }
    friend bool operator==(const OnThisThread&, const OnThisThread&) = default;
};

// Connects the cancellation slot of a handler with an operation that may not have begun yet, or
// have ended.
class Stopper {
public:
    // Called by the slot. A stop that comes before the operation can be stopped is remembered.
    void stop() {
        std::function<void()> cancel;
        {
            const std::scoped_lock lock{mutex_};
            is_wanted_ = true;
            cancel = std::move(cancel_);  // each cancel function is called once
            cancel_ = nullptr;
        }
        if (cancel) cancel();
    }

    void can_stop_with(std::function<void()> cancel) noexcept {
        {
            const std::scoped_lock lock{mutex_};
            if (is_over_) return;
            if (!is_wanted_) {
                cancel_ = std::move(cancel);
                return;
            }
        }
        cancel();
    }

    // The operation has ended, so the cancel function is dropped. True if the slot requested a
    // stop.
    bool end() {
        std::function<void()> cancel;
        const std::scoped_lock lock{mutex_};
        is_over_ = true;
        cancel.swap(cancel_);
        return is_wanted_;
    }

private:
    std::mutex mutex_;
    std::function<void()> cancel_;
    bool is_wanted_ = false;
    bool is_over_ = false;
};

// The arguments of the handler.
using AcquireEnd = std::tuple<std::error_code, Hold>;
using AcquireAllEnd = std::tuple<std::error_code, HoldSet>;
using ReleaseEnd = std::tuple<std::error_code>;
using WaitEnd = std::tuple<std::error_code>;
using TimedWaitEnd = std::tuple<std::error_code, bool>;

// The executor as outstanding work of its context. asio::executor_work_guard would keep a copy of
// the executor beside the work and drop it last; a strand would then be destroyed in a context that
// nothing keeps alive any more.
template <class Executor>
auto tracked(const Executor& executor) {
    return asio::prefer(executor, asio::execution::outstanding_work.tracked);
}

// Owns the handler and outstanding work of its executor, and passes both on.
template <class Handler, class End>
class HandlerFinish final : public Finish {
public:
    using Executor = asio::associated_executor_t<Handler, OnThisThread>;

    template <class H>
    HandlerFinish(H&& handler, std::shared_ptr<Stopper> stopper)
        : rest_{Rest{tracked(asio::get_associated_executor(handler, OnThisThread{})),
                     Handler(std::forward<H>(handler))}},
          stopper_{std::move(stopper)} {}

    void operator()(std::error_code ec, Hold hold) override {
        const bool was_wanted = stopper_ && stopper_->end();
        if (was_wanted && ec == Errc::cancelled) ec = asio::error::operation_aborted;
        // The handler, and its context with it, may be finished before dispatch() returns. So this
        // copy is outstanding work as well, and everything else of the executor in this scope ends
        // before it.
        const auto executor = rest_->work;
        {
            auto rest = std::exchange(rest_, std::nullopt);
            Call call{*std::move(rest), end(ec, std::move(hold)), stopper_ != nullptr};
            rest.reset();
            if constexpr (std::is_same_v<Executor, OnThisThread>) {
                call();
            } else {
                asio::dispatch(executor, std::move(call));
            }
        }
    }

private:
    using Work = decltype(tracked(std::declval<const Executor&>()));

    struct Rest {
        Work work;  // ends after the handler
        Handler handler;
    };

    struct Call {
        Rest rest;
        End end;
        bool has_slot;

        void operator()() {
            // Cleared here and not earlier, because a slot belongs to the executor of its handler.
            if (has_slot) asio::get_associated_cancellation_slot(rest.handler).clear();
            std::apply(std::move(rest.handler), std::move(end));
        }
    };

    static End end(std::error_code ec, Hold hold) {
        if constexpr (std::is_same_v<End, AcquireEnd>) {
            return {ec, std::move(hold)};
        } else if constexpr (std::is_same_v<End, AcquireAllEnd>) {
            try {
                return {ec, as_set(std::move(hold))};
            } catch (const std::bad_alloc&) {
                return {make_error_code(Errc::resource_exhausted), HoldSet{}};
            }
        } else if constexpr (std::is_same_v<End, TimedWaitEnd>) {
            const bool has_passed = !ec;
            return {ec == Errc::timed_out ? std::error_code{} : ec, has_passed};
        } else {
            return {ec};
        }
    }

    std::optional<Rest> rest_;
    std::shared_ptr<Stopper> stopper_;  // null: the handler has no slot
};

// Null if the handler has no connected cancellation slot.
template <class Handler>
std::shared_ptr<Stopper> stopper_for(const Handler& handler) {
    auto slot = asio::get_associated_cancellation_slot(handler);
    if (!slot.is_connected()) return nullptr;
    auto stopper = std::make_shared<Stopper>();
    slot.assign([stopper](asio::cancellation_type type) {
        if (type != asio::cancellation_type::none) stopper->stop();
    });
    return stopper;
}

template <class End>
struct StartAcquiring {
    std::shared_ptr<NodeRuntime> node;
    std::optional<Duration> wait_max{};  // counts from the start of the operation

    template <class Handler>
    void operator()(Handler&& handler, AcquireOrder order) const {
        if (wait_max) order.deadline = Deadline::clock::now() + *wait_max;
        using Ending = HandlerFinish<std::decay_t<Handler>, End>;
        const auto stopper = stopper_for(handler);
        auto finish = std::make_unique<Ending>(std::forward<Handler>(handler), stopper);
        auto cancel = start_acquire(node, std::move(order), std::move(finish));
        if (stopper) stopper->can_stop_with(std::move(cancel));
    }
};

using StartAcquire = StartAcquiring<AcquireEnd>;
using StartAcquireAll = StartAcquiring<AcquireAllEnd>;

struct StartCampaign {
    std::shared_ptr<NodeRuntime> node;
    std::string value;

    template <class Handler>
    void operator()(Handler&& handler, AcquireOrder order) const {
        using Ending = HandlerFinish<std::decay_t<Handler>, AcquireEnd>;
        const auto stopper = stopper_for(handler);
        auto finish = std::make_unique<Ending>(std::forward<Handler>(handler), stopper);
        auto cancel = start_campaign(node, std::move(order), value, std::move(finish));
        if (stopper) stopper->can_stop_with(std::move(cancel));
    }
};

// A count has no slot: it takes effect whatever becomes of its caller.
template <class End>
struct StartWaiting {
    std::shared_ptr<NodeRuntime> node;
    std::optional<Duration> wait_max{};  // counts from the start of the operation

    template <class Handler>
    void operator()(Handler&& handler, WaitOrder order) const {
        const auto now = Deadline::clock::now();
        order.has_time = wait_max ? *wait_max > Duration::zero() : order.deadline > now;
        if (wait_max && wait_max->is_set()) order.deadline = now + *wait_max;
        using Ending = HandlerFinish<std::decay_t<Handler>, End>;
        const bool can_stop = order.kind != WaitOrder::Kind::count;
        const auto stopper = can_stop ? stopper_for(handler) : nullptr;
        auto finish = std::make_unique<Ending>(std::forward<Handler>(handler), stopper);
        auto cancel = start_wait(node, order, std::move(finish));
        if (stopper) stopper->can_stop_with(std::move(cancel));
    }
};

using StartWait = StartWaiting<WaitEnd>;
using StartTimedWait = StartWaiting<TimedWaitEnd>;

struct StartRelease {
    template <class Handler>
    void operator()(Handler&& handler, Hold hold) const {
        using Ending = HandlerFinish<std::decay_t<Handler>, ReleaseEnd>;
        auto finish = std::make_unique<Ending>(std::forward<Handler>(handler), nullptr);
        start_release(std::move(hold), std::move(finish));
    }
};

}  // namespace mortise::detail
