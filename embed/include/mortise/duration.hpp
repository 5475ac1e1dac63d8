// A length of time in nanoseconds. It is made from any duration of <chrono> without overflow: a
// value that does not fit becomes the longest or the shortest Duration, and NaN becomes zero.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>
#include <optional>
#include <ratio>
#include <string>
#include <string_view>
#include <type_traits>

#include <mortise/detail/macros_aside.hpp>

namespace mortise {

class Duration {
public:
    constexpr Duration() = default;  // zero

    // Implicit, so that every duration of the standard library can be passed as a Duration.
    template <class Rep, class Period>
    // NOLINTNEXTLINE(google-explicit-constructor)
    constexpr Duration(std::chrono::duration<Rep, Period> duration) noexcept
        : ns_{saturated<std::ratio_divide<Period, std::nano>>(duration.count())} {}

    // The longest duration. It means that no limit is set.
    static constexpr Duration max() noexcept { return std::chrono::nanoseconds::max(); }
    static constexpr Duration min() noexcept { return std::chrono::nanoseconds::min(); }
    static constexpr Duration zero() noexcept { return {}; }

    // Parses "10s", "250ms", "1.5h": a number and one of ns, us, ms, s, m, h. Empty for any other
    // text, and for a number that is negative or too large.
    [[nodiscard]] static std::optional<Duration> parse(std::string_view text) noexcept;

    [[nodiscard]] constexpr bool is_set() const noexcept { return ns_ != max().ns_; }
    [[nodiscard]] constexpr std::chrono::nanoseconds to_nanoseconds() const noexcept {
        return std::chrono::nanoseconds{ns_};
    }

    friend constexpr bool operator==(Duration, Duration) = default;
    friend constexpr auto operator<=>(Duration, Duration) = default;

    // The end of a wait that begins at `from`. A wait without a limit ends at the last time point.
    template <class Clock>
    friend constexpr std::chrono::time_point<Clock, std::chrono::nanoseconds> operator+(
        std::chrono::time_point<Clock, std::chrono::nanoseconds> from, Duration wait) noexcept {
        using Point = std::chrono::time_point<Clock, std::chrono::nanoseconds>;
        if (!wait.is_set()) return Point::max();
        std::int64_t ns = 0;
        if (__builtin_add_overflow(from.time_since_epoch().count(), wait.ns_, &ns)) {
            return wait.ns_ > 0 ? Point::max() : Point::min();
        }
        return Point{std::chrono::nanoseconds{ns}};
    }

private:
    static constexpr std::int64_t highest_ = std::numeric_limits<std::int64_t>::max();
    static constexpr std::int64_t lowest_ = std::numeric_limits<std::int64_t>::min();

    // `count` units of `Unit` nanoseconds each.
    template <class Unit, class Rep>
    static constexpr std::int64_t saturated(Rep count) noexcept {
        if constexpr (std::is_integral_v<Rep>) {
            return saturated_integer<Unit>(count);
        } else {
            const auto ns = static_cast<long double>(count) * Unit::num / Unit::den;
            if (ns != ns) return 0;  // NOLINT(misc-redundant-expression): not a number
            if (ns >= 0x1p63L) return highest_;
            if (ns <= -0x1p63L) return lowest_;
            return static_cast<std::int64_t>(ns);
        }
    }

    template <class Unit, class Rep>
    static constexpr std::int64_t saturated_integer(Rep count) noexcept {
        constexpr std::int64_t num = Unit::num;
        constexpr std::int64_t den = Unit::den;
        const bool is_negative = count < Rep{};
        const std::int64_t beyond = is_negative ? lowest_ : highest_;
        std::int64_t whole = 0;  // in units of den, each of which is num nanoseconds
        std::int64_t part = 0;
        if (__builtin_add_overflow(count, 0, &whole)) {
            // The value is more than 2^63, so only a unit far below the nanosecond brings it into
            // range.
            if constexpr (num >= den) return beyond;
            return saturated<Unit>(static_cast<long double>(count));
        }
        const std::int64_t rest = whole % den;
        if (__builtin_mul_overflow(whole / den, num, &whole)) return beyond;
        if (__builtin_mul_overflow(rest, num, &part)) {
            return saturated<Unit>(static_cast<long double>(count));
        }
        if (__builtin_add_overflow(whole, part / den, &whole)) return beyond;
        return whole;
    }

    std::int64_t ns_ = 0;
};

// The form that Duration::parse accepts, in the largest unit that leaves no remainder: "90s",
// "250ms"; "unlimited" for max().
[[nodiscard]] std::string to_string(Duration duration);

}  // namespace mortise

#include <mortise/detail/macros_back.hpp>
