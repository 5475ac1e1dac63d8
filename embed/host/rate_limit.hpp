// Allows a few lines of one cause at once, and then one at long intervals, so that a fault that
// repeats a thousand times a second does not fill a disk.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace mortise::detail {

class RateLimit {
public:
    using Clock = std::chrono::steady_clock;

    static constexpr std::uint32_t burst = 10;
    static constexpr std::chrono::seconds refill{10};  // the time for one more line
    // Further causes share one budget.
    static constexpr std::size_t causes_max = 128;

    // The number of lines of this cause that were dropped since the last allowed one; empty: this
    // line is dropped too.
    std::optional<std::uint64_t> admit(std::string_view cause, Clock::time_point now);
    // The number for all causes.
    [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

private:
    struct Budget {
        std::uint32_t lines = burst;
        Clock::time_point counted;  // the time for which `lines` is right
        std::uint64_t left_out = 0;
    };

    Budget& budget_of(std::string_view cause, Clock::time_point now);

    std::map<std::string, Budget, std::less<>> budgets_;
    std::uint64_t left_out_ = 0;
};

}  // namespace mortise::detail
