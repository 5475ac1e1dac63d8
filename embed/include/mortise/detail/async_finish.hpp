// How the end of an operation finds its way to an Asio handler. Not for use by programs.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
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

// Stands for no executor at all: what is handed to it runs where it is. A handler without one of
// its own would otherwise get Asio's system executor, and with it threads nobody asked for.
struct OnThisThread {
    template <class F>
    void execute(F&& body) const {
        std::forward<F>(body)();
    }
    friend bool operator==(const OnThisThread&, const OnThisThread&) = default;
};

// Between the cancellation slot of a handler and an operation that is about to begin, or to end.
class Stopper {
public:
    // From the slot. Before the operation can be stopped, it is remembered.
    void stop() {
        std::function<void()> cancel;
        {
            const std::scoped_lock lock{mutex_};
            is_wanted_ = true;
            cancel = std::move(cancel_);  // once is enough
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

    // The operation has ended: there is nothing to keep it for. True if the slot wanted that.
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

// What a handler is told.
using AcquireEnd = std::tuple<std::error_code, Hold>;
using AcquireAllEnd = std::tuple<std::error_code, HoldSet>;
using ReleaseEnd = std::tuple<std::error_code>;

// The executor, as one that is work of its context while it lives. asio::executor_work_guard has a
// copy of it beside the work, and drops it last: a strand then goes back to a context that nothing
// keeps any more.
template <class Executor>
auto tracked(const Executor& executor) {
    return asio::prefer(executor, asio::execution::outstanding_work.tracked);
}

// Owns the handler and work of the handler's executor, and hands both on.
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
        // The handler may be over, and its context with it, before dispatch() has returned: so this
        // is work as well, and whatever else is of the executor here ends before it.
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
            // Here and not earlier: a slot belongs to the executor of its handler.
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
        } else {
            return {ec};
        }
    }

    std::optional<Rest> rest_;
    std::shared_ptr<Stopper> stopper_;  // null: the handler has no slot
};

// Null if the handler has no slot to be cancelled by.
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

struct StartRelease {
    template <class Handler>
    void operator()(Handler&& handler, Hold hold) const {
        using Ending = HandlerFinish<std::decay_t<Handler>, ReleaseEnd>;
        auto finish = std::make_unique<Ending>(std::forward<Handler>(handler), nullptr);
        start_release(std::move(hold), std::move(finish));
    }
};

}  // namespace mortise::detail
