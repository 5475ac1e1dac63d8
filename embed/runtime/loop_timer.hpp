// The one timer of a core thread.
#pragma once

#include <system_error>
#include <utility>

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "core/base/instant.hpp"

namespace mortise::detail {

class LoopTimer {
public:
    explicit LoopTimer(asio::io_context& io) : timer_{io} {}

    // Calls fired(due) at `due`. Does nothing if that is never, or if the timer is set to an
    // earlier time: deadlines move with almost every message, and a timer that fires too early only
    // checks again.
    template <class Fired>
    void set(core::Instant due, Fired fired) {
        if (due == core::Instant::never() || due >= at_) return;
        at_ = due;
        timer_.expires_at(asio::steady_timer::time_point{core::Nanoseconds{due.ns}});
        timer_.async_wait([this, fired = std::move(fired)](std::error_code ec) {
            if (!ec) fired(std::exchange(at_, core::Instant::never()));
        });
    }
    // Likewise, in place of what it was set to.
    template <class Fired>
    void set_anew(core::Instant due, Fired fired) {
        at_ = core::Instant::never();
        set(due, std::move(fired));
    }
    void cancel() { timer_.cancel(); }

private:
    asio::steady_timer timer_;
    // the time to which it is set, on the steady clock: from set() until it fires, otherwise never
    core::Instant at_ = core::Instant::never();
};

}  // namespace mortise::detail
