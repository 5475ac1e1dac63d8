#include "embed/config/config_keys.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include <mortise/escaped.hpp>

namespace mortise::detail {

namespace {

constexpr std::size_t quote_bytes_max = 80;

template <class Number>
bool read_number(std::string_view text, Number& value) {
    Number number{};
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec != std::errc{} || read.ptr != end) return false;
    value = number;
    return true;
}

template <class Enum, std::size_t n>
std::string take_name(std::string_view text, Enum& value, const std::array<Enum, n>& known) {
    std::string names;
    for (const Enum each : known) {
        if (text == to_string(each)) {
            value = each;
            return {};
        }
        names += (names.empty() ? "" : ", ") + std::string{to_string(each)};
    }
    return "must be one of " + names + ", not " + in_quotes(text);
}

// For a text that Duration::parse does not accept: it has the right form.
bool is_too_long(std::string_view text) {
    const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
    return digits != 0 && Duration::parse("1" + std::string{text.substr(digits)});
}

}  // namespace

std::string take_text(std::string_view text, std::string& value) {
    value = text;
    return {};
}

std::string take_text(std::string_view text, std::filesystem::path& value) {
    // A zero byte would end the path early and name another file.
    if (text.find('\0') != std::string_view::npos) return in_quotes(text) + " is not a path";
    value = text;
    return {};
}

std::string take_text(std::string_view text, std::uint64_t& value) {
    return read_number(text, value) ? "" : "must be a whole number, not " + in_quotes(text);
}

std::string take_text(std::string_view text, bool& value) {
    if (text != "true" && text != "false") return "must be true or false, not " + in_quotes(text);
    value = text == "true";
    return {};
}

std::string take_text(std::string_view text, double& value) {
    return read_number(text, value) ? "" : "must be a number, not " + in_quotes(text);
}

std::string take_text(std::string_view text, Duration& value) {
    const auto duration = Duration::parse(text);
    if (!duration) {
        const std::string_view problem =
            is_too_long(text)
                ? " is too long: a duration has at most 2562047h"
                : R"( is not a duration: write "10s" or "250ms" (ns, us, ms, s, m, h))";
        return in_quotes(text).append(problem);
    }
    value = *duration;
    return {};
}

std::string take_text(std::string_view text, Role& value) {
    return take_name(text, value, std::array{Role::voter, Role::learner, Role::client});
}

std::string take_text(std::string_view text, LogLevel& value) {
    return take_name(text, value,
                     std::array{LogLevel::debug, LogLevel::info, LogLevel::warn, LogLevel::error,
                                LogLevel::off});
}

std::string take_text(std::string_view text, LogFormat& value) {
    return take_name(text, value, std::array{LogFormat::text, LogFormat::json});
}

std::string take_text(std::string_view text, Durability& value) {
    return take_name(text, value, std::array{Durability::synced, Durability::replicated});
}

std::string take_text(std::string_view text, std::vector<std::string>& value) {
    value.clear();
    while (true) {
        const auto comma = text.find(',');
        value.emplace_back(text.substr(0, comma));
        if (comma == std::string_view::npos) return {};
        text.remove_prefix(comma + 1);
    }
}

std::string in_quotes(std::string_view text) {
    const bool cut = text.size() > quote_bytes_max;
    return '"' + escaped(text.substr(0, quote_bytes_max)) + (cut ? "...\"" : "\"");
}

}  // namespace mortise::detail
