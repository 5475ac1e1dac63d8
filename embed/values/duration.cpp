#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <mortise/duration.hpp>

namespace mortise {

namespace {

struct Unit {
    std::string_view name;
    std::int64_t ns;
};
constexpr std::array units{
    Unit{"h", 3'600'000'000'000}, Unit{"m", 60'000'000'000}, Unit{"s", 1'000'000'000},
    Unit{"ms", 1'000'000},        Unit{"us", 1'000},         Unit{"ns", 1}};

}  // namespace

std::optional<Duration> Duration::parse(std::string_view text) noexcept {
    const auto digits = std::min(text.find_first_not_of("0123456789."), text.size());
    const auto number = text.substr(0, digits);
    const auto* unit = std::find_if(units.begin(), units.end(), [&](const Unit& candidate) {
        return candidate.name == text.substr(digits);
    });
    if (unit == units.end() || number.empty() || number.front() == '.' || number.back() == '.') {
        return std::nullopt;
    }
    const char* const end = number.data() + number.size();
    std::int64_t whole = 0;
    auto read = std::from_chars(number.data(), end, whole);
    if (read.ec != std::errc{}) return std::nullopt;
    Duration duration = Duration::max();  // too long, or not a number
    if (read.ptr == end) {
        std::int64_t ns = 0;
        if (!__builtin_mul_overflow(whole, unit->ns, &ns)) duration = std::chrono::nanoseconds{ns};
    } else {
        long double value = 0;
        read = std::from_chars(number.data(), end, value, std::chars_format::fixed);
        const auto ns = std::round(value * static_cast<long double>(unit->ns));
        if (read.ptr == end) duration = std::chrono::duration<long double, std::nano>{ns};
    }
    return duration.is_set() ? std::optional{duration} : std::nullopt;
}

std::string to_string(Duration duration) {
    if (!duration.is_set()) return "unlimited";
    const std::int64_t ns = duration.to_nanoseconds().count();
    if (ns == 0) return "0s";
    const auto* unit = std::find_if(units.begin(), units.end(),
                                    [ns](const Unit& candidate) { return ns % candidate.ns == 0; });
    return std::to_string(ns / unit->ns).append(unit->name);
}

}  // namespace mortise
