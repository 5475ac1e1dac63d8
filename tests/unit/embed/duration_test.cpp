#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <mortise/duration.hpp>

namespace mortise {
namespace {

using namespace std::chrono_literals;

using Steady = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;
using Seconds = std::chrono::duration<double>;

constexpr auto forever = std::chrono::nanoseconds::max();
constexpr auto never = std::chrono::nanoseconds::min();

std::chrono::nanoseconds taken(Duration duration) {
    return duration.to_nanoseconds();
}

static_assert(Duration{5s} == 5s && Duration{} == Duration::zero() && Duration{1ms} < 1s);
static_assert(Duration{std::chrono::hours::max()} == Duration::max());
static_assert(!Duration::max().is_set() && Duration{0s}.is_set());
static_assert(Steady{} + Duration{1s} == Steady{1s});

TEST(Duration, TakesWhatFitsAsItIs) {
    EXPECT_EQ(taken(250ms), 250'000'000ns);
    EXPECT_EQ(taken(-3us), -3'000ns);
    EXPECT_EQ(taken(std::chrono::days{1}), 24h);
    EXPECT_EQ(taken(std::chrono::duration<std::uint8_t>{200}), 200s);
    EXPECT_EQ(taken(forever - 1ns), forever - 1ns);
    EXPECT_EQ(taken(never), never);
}

TEST(Duration, SaturatesWhatIsTooLong) {
    EXPECT_EQ(taken(std::chrono::hours::max()), forever);
    EXPECT_EQ(taken(std::chrono::seconds::max()), forever);
    EXPECT_EQ(taken(std::chrono::hours::min()), never);
    EXPECT_EQ(taken(std::chrono::seconds{9'223'372'036}), 9'223'372'036'000'000'000ns);
    EXPECT_EQ(taken(std::chrono::seconds{9'223'372'037}), forever);
    EXPECT_EQ(taken(std::chrono::seconds{-9'223'372'037}), never);
    using Unsigned = std::chrono::duration<std::uint64_t, std::nano>;
    EXPECT_EQ(taken(Unsigned::max()), forever);
    EXPECT_EQ(taken(std::chrono::duration<std::uint64_t, std::milli>::max()), forever);
}

TEST(Duration, RoundsTowardsZeroBelowTheNanosecond) {
    using Picoseconds = std::chrono::duration<std::int64_t, std::pico>;
    EXPECT_EQ(taken(Picoseconds{1'999}), 1ns);
    EXPECT_EQ(taken(Picoseconds{-1'999}), -1ns);
    EXPECT_EQ(taken(Picoseconds::max()), 9'223'372'036'854'775ns);
    using Thirds = std::chrono::duration<std::int64_t, std::ratio<1, 3>>;
    EXPECT_EQ(taken(Thirds{2}), 666'666'666ns);
    EXPECT_EQ(taken(Thirds{30'000'000'000}), forever);
    using UnsignedPicoseconds = std::chrono::duration<std::uint64_t, std::pico>;
    EXPECT_EQ(taken(UnsignedPicoseconds::max()), 18'446'744'073'709'551ns);
}

TEST(Duration, TakesFloatingPointWithoutUndefinedBehaviour) {
    EXPECT_EQ(taken(Seconds{1.5}), 1'500ms);
    EXPECT_EQ(taken(Seconds{-0.25}), -250ms);
    EXPECT_EQ(taken(std::chrono::duration<float>{0.5F}), 500ms);
    EXPECT_EQ(taken(Seconds{std::numeric_limits<double>::infinity()}), forever);
    EXPECT_EQ(taken(Seconds{-std::numeric_limits<double>::infinity()}), never);
    EXPECT_EQ(taken(Seconds{std::nan("")}), 0ns);
    EXPECT_EQ(taken(Seconds::max()), forever);
    EXPECT_EQ(taken(Seconds::min()), never);
    EXPECT_EQ(taken(Seconds{9.3e9}), forever);
    EXPECT_EQ(taken(std::chrono::duration<long double, std::nano>{0x1p63L}), forever);
}

TEST(Duration, ComparesWithWhatTheProgramHas) {
    const Duration wait = 2s;
    EXPECT_EQ(wait, 2000ms);
    EXPECT_GT(wait, 1999ms);
    EXPECT_LT(wait, 1min);
    EXPECT_NE(wait, Seconds{2.1});
    EXPECT_LE(Duration{-1s}, Duration::zero());
}

TEST(Duration, AddedToAPointInTimeStopsAtTheEnd) {
    const Steady now{100s};
    EXPECT_EQ(now + Duration{5s}, Steady{105s});
    EXPECT_EQ(now + Duration{-5s}, Steady{95s});
    EXPECT_EQ(now + Duration::max(), Steady::max());
    EXPECT_EQ(Steady{-1s} + Duration::max(), Steady::max());
    EXPECT_EQ(now + Duration{forever - 1ns}, Steady::max());
    EXPECT_EQ(Steady{-100s} + Duration::min(), Steady::min());
    EXPECT_EQ(Steady::max() + Duration{1ns}, Steady::max());
}

TEST(Duration, IsParsedFromANumberAndAUnit) {
    struct Row {
        std::string_view text;
        std::chrono::nanoseconds duration;
    };
    for (const auto& [text, duration] : std::array{
             Row{"10s", 10s}, Row{"250ms", 250ms}, Row{"7us", 7us}, Row{"1ns", 1ns},
             Row{"3m", 3min}, Row{"2h", 2h}, Row{"0s", 0s}, Row{"1.5h", 90min}, Row{"0.1s", 100ms},
             Row{"0.3ms", 300us}, Row{"007s", 7s}, Row{"2562047h", 2'562'047h}}) {
        EXPECT_EQ(Duration::parse(text), std::optional<Duration>{duration}) << text;
    }
}

TEST(Duration, IsNotParsedFromAnythingElse) {
    for (const std::string_view text : {"",
                                        "s",
                                        "10",
                                        "10 s",
                                        " 10s",
                                        "10s ",
                                        "10S",
                                        "ten s",
                                        "-1s",
                                        "+1s",
                                        "1.s",
                                        ".5s",
                                        "1..5s",
                                        "1.2.3s",
                                        "1e3s",
                                        "10sec",
                                        "1m30s",
                                        "nans",
                                        "infs",
                                        "0x1s",
                                        "2562048h",
                                        "9223372036854775807ns",
                                        "99999999999999999999s",
                                        "9999999999.5s",
                                        "9999999.5h"}) {
        EXPECT_EQ(Duration::parse(text), std::nullopt) << text;
    }
    EXPECT_EQ(Duration::parse(std::string_view{"1s\0", 3}), std::nullopt);
}

TEST(Duration, IsWrittenInTheLargestUnitWithoutARest) {
    EXPECT_EQ(to_string(Duration{10s}), "10s");
    EXPECT_EQ(to_string(Duration{90s}), "90s");
    EXPECT_EQ(to_string(Duration{120s}), "2m");
    EXPECT_EQ(to_string(Duration{36h}), "36h");
    EXPECT_EQ(to_string(Duration{1'500ms}), "1500ms");
    EXPECT_EQ(to_string(Duration{1ns}), "1ns");
    EXPECT_EQ(to_string(Duration{-5ms}), "-5ms");
    EXPECT_EQ(to_string(Duration{}), "0s");
    EXPECT_EQ(to_string(Duration::max()), "unlimited");
}

}  // namespace
}  // namespace mortise
