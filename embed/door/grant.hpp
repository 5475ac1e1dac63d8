// What a client holds: one lock, several taken together, or permits.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "embed/http/answers.hpp"
#include <mortise/boot_clock.hpp>
#include <mortise/detail/for_others.hpp>
#include <mortise/hold.hpp>

namespace mortise::door {

// The members that do not change it are thread-safe.
class Grant : public std::enable_shared_from_this<Grant> {
public:
    using Time = BootClock::time_point;

    // `leads`: it published a value, which is removed before its release.
    Grant(Hold hold, bool leads);

    // The time until which the node vouches for it; the epoch: it does not any more.
    [[nodiscard]] Time valid_until() const noexcept { return hold_.valid_until(); }
    [[nodiscard]] HoldState state() const noexcept { return hold_.state(); }
    [[nodiscard]] LossReason why_lost() const noexcept { return hold_.why_lost(); }
    [[nodiscard]] std::error_code failure() const noexcept { return hold_.failure(); }
    [[nodiscard]] std::stop_token lost() const noexcept { return hold_.lost(); }
    // The answer to the client for that failure.
    [[nodiscard]] http::Refusal refusal(std::error_code failure) const;
    // Blocks for at most call_timeout, or twice that.
    [[nodiscard]] std::error_code release() noexcept;
    // The same without waiting.
    void unlock() noexcept;
    // Its client was not heard in time: a loss, after which its lock_delay begins.
    void lapse() noexcept { detail::lapse(hold_); }

    // Name, mode and token; of several, a list of them.
    [[nodiscard]] http::Json json() const;

private:
    class Resigning;

    Hold hold_;
    const bool leads_;
    const std::vector<Hold> parts_;
};

// Milliseconds from one time to the other, rounded down, not less than zero.
[[nodiscard]] std::int64_t ms_between(BootClock::time_point from, BootClock::time_point to);

}  // namespace mortise::door
