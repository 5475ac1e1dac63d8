#include "tools/mortise/top/frame.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <utility>

#include "tools/mortise/short_time.hpp"
#include "tools/mortise/table.hpp"
#include <mortise/escaped.hpp>

namespace mortise::cli {

namespace {

using namespace std::chrono_literals;

double seconds_in(Duration time) {
    return std::chrono::duration<double>{time.to_nanoseconds()}.count();
}

// "0", "3.2", "128": a digit after the point where that says something.
std::string rate_text(double per_second) {
    if (per_second == 0) return "0";
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), per_second < 10 ? "%.1f" : "%.0f", per_second);
    return text.data();
}

// "0", "750 us", "12 ms", "3.1 s".
std::string wait_text(double seconds) {
    if (seconds == 0) return "0";
    if (seconds < 1e-3) return std::to_string(std::lround(seconds * 1e6)) + " us";
    if (seconds < 1) return std::to_string(std::lround(seconds * 1e3)) + " ms";
    return short_time(std::chrono::nanoseconds{std::llround(seconds * 1e9)});
}

// Of each slot. The present one counts when it has lasted a second: before, one grant would look
// like many.
std::vector<double> series(const Activity& activity, double (*value)(const ActivityRates&)) {
    std::vector<double> values;
    for (const auto& slot : activity.slots)
        if (slot.length >= Duration{1s}) values.push_back(value(slot));
    return values;
}

double grants_in(const ActivityRates& slot) {
    return static_cast<double>(slot.grants) / seconds_in(slot.length);
}

double wait_in(const ActivityRates& slot) {
    return seconds_in(slot.wait_p99);
}

std::string chart(const std::string& title, const std::vector<double>& values,
                  const FrameForm& form, std::string (*text_of)(double)) {
    constexpr std::size_t numbers_width = 26;
    const auto now = values.empty() ? 0 : values.back();
    const auto most = values.empty() ? 0 : *std::ranges::max_element(values);
    const auto numbers = "now " + text_of(now) + ", most " + text_of(most);
    const auto taken = title.size() + numbers_width;
    const auto bars = form.columns > taken + 8 ? form.columns - taken : 8;
    return title + sparkline(values, bars, form.glyphs) + "  " + numbers;
}

std::string count_of(std::uint64_t number, const std::string& what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

std::string cluster_line(const Activity& activity) {
    auto line =
        activity.leader == 0 ? "no leader known" : "leader " + std::to_string(activity.leader);
    line += ", " + count_of(activity.members, "member");
    line += ", " + count_of(activity.sessions, "session");
    line += ", " + count_of(activity.names, "name");
    return line;
}

std::string waiters_line(const Activity& activity) {
    if (activity.waiters == 0) return "0 waiters";
    return count_of(activity.waiters, "waiter") + " for " +
           count_of(activity.contended_names, "name") + ", oldest wait " +
           short_time(activity.oldest_wait);
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < text.size();) {
        const auto end = text.find('\n', begin);
        lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

std::string row_name(const ContendedName& hot, const FrameForm& form) {
    constexpr std::size_t others_width = 46;
    const auto room = form.columns > others_width + 8 ? form.columns - others_width : 8;
    return cut_to(escaped_name(hot.name), room, form.glyphs);
}

std::vector<std::string> hottest_of(const Activity& activity, const FrameForm& form) {
    if (activity.hottest.empty()) {
        const auto of = form.prefix.empty() ? "" : " that begins with " + escaped_name(form.prefix);
        return {"nobody waits for a name" + of};
    }
    Table table{{"NAME", "KIND", "HOLDERS", "WAITERS", "OLDEST WAIT"}};
    for (const auto& hot : activity.hottest)
        table.add({row_name(hot, form), std::string{to_string(hot.kind)},
                   std::to_string(hot.holders), std::to_string(hot.waiters),
                   short_time(hot.oldest_wait)});
    return lines_of(table.text(false));
}

}  // namespace

std::vector<std::string> frame_of(const Activity& activity, const FrameForm& form) {
    std::vector<std::string> lines;
    lines.push_back("mortise top  " + escaped(activity.cluster) + ", as node " +
                    std::to_string(activity.node) + " sees it, the last " +
                    short_time(activity.recent.length, Rounded::up));
    lines.push_back(cluster_line(activity));
    lines.push_back(waiters_line(activity));
    if (!form.problem.empty()) lines.push_back(escaped(form.problem));
    lines.emplace_back();
    lines.push_back(chart("grants/s  ", series(activity, grants_in), form, rate_text));
    lines.push_back(chart("wait p99  ", series(activity, wait_in), form, wait_text));
    lines.emplace_back();
    const auto titles = lines.size();
    for (auto& line : hottest_of(activity, form))
        lines.push_back(std::move(line));
    if (form.rows != 0 && lines.size() > form.rows) lines.resize(form.rows);
    for (std::size_t at = 0; at < lines.size(); ++at) {
        lines[at] = cut_to(lines[at], form.columns, form.glyphs);
        const bool is_title = at == 0 || (at == titles && !activity.hottest.empty());
        if (form.bold && is_title) lines[at] = "\x1b[1m" + lines[at] + "\x1b[0m";
    }
    return lines;
}

}  // namespace mortise::cli
