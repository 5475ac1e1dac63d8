#include "tools/mortise/short_time.hpp"

#include <algorithm>
#include <chrono>

namespace mortise::cli {

namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

// The smallest part of such a time that is shown.
nanoseconds step_of(nanoseconds time) {
    if (time < seconds{10}) return milliseconds{100};
    if (time < minutes{1}) return seconds{1};
    return time < days{1} ? nanoseconds{minutes{1}} : nanoseconds{hours{1}};
}

// "2 h 5 min", and "2 h" if there are no minutes.
template <class Large, class Small>
std::string in_two(nanoseconds time, const char* large, const char* small) {
    const auto first = std::chrono::floor<Large>(time);
    const auto second = std::chrono::floor<Small>(time - first);
    auto text = std::to_string(first.count()) + ' ' + large;
    if (second.count() != 0) text += ' ' + std::to_string(second.count()) + ' ' + small;
    return text;
}

}  // namespace

std::string short_time(Duration duration, Rounded rounded) {
    const auto exact = std::max(duration.to_nanoseconds(), nanoseconds{0});
    const auto step = step_of(exact);
    const auto over = exact % step;
    auto time = exact - over;
    if (rounded == Rounded::up && over.count() != 0) time += step;
    if (time < seconds{10}) {
        const auto tenths = time / milliseconds{100};
        return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + " s";
    }
    if (time < minutes{1}) return std::to_string(time / seconds{1}) + " s";
    if (time < hours{1}) return std::to_string(time / minutes{1}) + " min";
    if (time < days{1}) return in_two<hours, minutes>(time, "h", "min");
    return in_two<days, hours>(time, "d", "h");
}

}  // namespace mortise::cli
