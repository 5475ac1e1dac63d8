#pragma once

#include <chrono>

namespace mortise {

// The clock of a hold's validity. It counts from the start of the machine and, unlike
// std::chrono::steady_clock, also while the machine is suspended. Its time points mean nothing on
// another machine.
struct BootClock {
    // NOLINTBEGIN(readability-identifier-naming): what the standard asks of a clock.
    using duration = std::chrono::nanoseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<BootClock>;
    // NOLINTEND(readability-identifier-naming)

    static constexpr bool is_steady = true;

    // May be called from any thread; does not block.
    [[nodiscard]] static time_point now() noexcept;
};

}  // namespace mortise
