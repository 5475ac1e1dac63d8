// The frames of all acquires: one for a thread that waits, one for a callback. The second is that
// of other waits as well.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <mortise.h>

#include "embed/capi/calls.hpp"
#include "embed/capi/handles.hpp"
#include "embed/capi/lost_watch.hpp"
#include "embed/capi/options.hpp"
#include <mortise/detail/start.hpp>
#include <mortise/errc.hpp>
#include <mortise/hold.hpp>
#include <mortise/lock_error.hpp>

namespace mortise::capi {

// What is asked of a node: an AcquireOrder or a WaitOrder.
template <class Order>
struct Asked {
    std::shared_ptr<detail::NodeRuntime> node;
    Order order;
};

// The order of one name.
[[nodiscard]] inline detail::AcquireOrder order_of(std::string_view name,
                                                   const mortise_acquire_options* options,
                                                   detail::Attempt attempt,
                                                   detail::Deadline deadline) {
    return {std::string{name}, options_of(options), attempt, deadline};
}

// `ask` returns what is asked. *hold stays NULL if another holder has it.
template <class Ask>
[[nodiscard]] int acquire(mortise_hold** hold, mortise_error** error, const Ask& ask) noexcept {
    clear(hold);
    return guarded(error, [&] {
        require(hold != nullptr, "hold is NULL");
        Asked<detail::AcquireOrder> asked = ask();
        auto granted = detail::acquire_or_throw(asked.node, std::move(asked.order));
        if (granted) *hold = handle_of(std::move(granted));
    });
}

// How the end of an acquire is told.
struct AcquireEnd {
    using Callback = mortise_acquired_callback;
    using Outcome = mortise_hold*;
    static constexpr const char* no_callback = "acquired is NULL";

    [[nodiscard]] static Outcome outcome(Hold granted) {
        return granted ? handle_of(std::move(granted)) : nullptr;
    }
};

// How the end of another wait is told.
struct WaitEnd {
    using Callback = mortise_waited_callback;
    using Outcome = int;
    static constexpr const char* no_callback = "waited is NULL";

    [[nodiscard]] static Outcome outcome(const Hold& /*none*/) { return 1; }
};

// Calls the program's callback, and then destroys its context. The end of the time is no error.
template <class End>
class Ended final : public detail::Finish {
public:
    Ended(typename End::Callback call, CallbackContext&& context)
        : call_{call}, context_{std::move(context)} {}

    [[nodiscard]] ErrorDetail& detail() { return detail_; }

    void operator()(std::error_code ec, Hold granted) noexcept override {
        typename End::Outcome outcome{};
        mortise_error* error = nullptr;
        const int code = guarded(&error, [&] {
            if (ec == Errc::timed_out) return;
            if (ec) throw HoldFailure{ec, {}, std::move(detail_)};
            outcome = End::outcome(std::move(granted));
        });
        call_(context_.get(), code, outcome, error);
    }

private:
    const typename End::Callback call_;
    const CallbackContext context_;
    ErrorDetail detail_;
};

// The callback of the program with its context.
template <class End>
struct Then {
    typename End::Callback call;
    void* context;
    void (*destroy)(void* context);
};

// `ask` returns what is asked, and `start` begins it.
template <class End, class Start, class Ask>
[[nodiscard]] int begin_async(const Then<End>& then, mortise_error** error, const Start& start,
                              const Ask& ask) noexcept {
    CallbackContext context{then.context, then.destroy};
    return guarded(error, [&] {
        require(then.call != nullptr, End::no_callback);
        auto asked = ask();
        auto end = std::make_unique<Ended<End>>(then.call, std::move(context));
        asked.order.detail = &end->detail();
        start(asked.node, std::move(asked.order), std::move(end));
    });
}

}  // namespace mortise::capi
