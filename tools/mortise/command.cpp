#include "tools/mortise/command.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>
#include <type_traits>

#include <mortise/detail/nearest_word.hpp>
#include <mortise/escaped.hpp>

namespace mortise::cli {

namespace fs = std::filesystem;

namespace {

template <class Target>
constexpr bool is_list = requires(Target target) {
    target.emplace_back(std::string{});
};

std::string_view usual_meaning(int code) {
    switch (code) {
        case 0: return "success";
        case 64: return "the command line is invalid";
        case 65: return "a certificate or a key is damaged, expired or of another authority";
        case 66: return "the configuration, a certificate or a key cannot be read";
        case 69: return "no member answers, or there is no majority";
        case 70: return "a bug in this program: please report it";
        case 73: return "a file exists that would have been overwritten";
        case 74: return "reading or writing failed";
        case 75: return "it is in use: try again later";
        case 77: return "no permission";
        case 78: return "the configuration is invalid";
        case 130: return "interrupted";
        case 141: return "the reader of the output closed it early";
        default: return "";
    }
}

}  // namespace

const Command* Command::find(std::string_view below) const {
    for (const auto* list : {&commands, &hidden_commands}) {
        const auto found = std::ranges::find(*list, below, &Command::word);
        if (found != list->end()) return &*found;
    }
    return nullptr;
}

// The dashes of an option are no letters that one mistypes.
std::string Command::hint(std::string_view word) const {
    const bool is_option = word.starts_with("--");
    std::vector<std::string> known;
    if (is_option) {
        for (const auto& option : options)
            for (const auto& each : option.names)
                if (each.starts_with("--")) known.push_back(each.substr(2));
    } else {
        for (const auto& below : commands)
            known.emplace_back(below.word());
    }
    const std::string dashes = is_option ? "--" : "";
    const auto typed = word.substr(dashes.size());
    const auto meant = detail::nearest_word(typed.substr(0, typed.find('=')), known);
    return meant ? " (did you mean " + dashes + *meant + "?)" : "";
}

Failure Command::no_command(const std::string& below) const {
    return {ExitCode::usage,
            "no command '" + below + "'" + hint(below) + "; see " + name + " --help"};
}

Option flag(std::string name, bool& target, std::string text) {
    return {.names = {std::move(name)}, .text = std::move(text), .take = [&target](const auto&) {
                target = true;
                return std::string{};
            }};
}

Option option(const std::string& heading, Option value, std::string text) {
    const auto blank = std::min(heading.find(' '), heading.size());
    const bool is_argument = !heading.starts_with('-');
    if (!is_argument) value.names = {heading.substr(0, blank)};
    value.argument = is_argument ? heading : heading.substr(blank + 1);
    value.text = std::move(text);
    return value;
}

Option required(const std::string& heading, Option value, std::string text) {
    value.is_required = true;
    return option(heading, std::move(value), std::move(text));
}

template <class Target>
Option value(Target& target, Kind kind, std::vector<std::string> choices) {
    Option option{.kind = kind, .choices = std::move(choices)};
    if constexpr (std::is_same_v<Target, std::string>) option.default_value = target;
    if constexpr (std::is_same_v<Target, fs::path>) option.default_value = target.string();
    option.is_repeated = is_list<Target>;
    option.take = [&target](const std::string& text) {
        if constexpr (is_list<Target>)
            target.emplace_back(text);
        else
            target = text;
        return std::string{};
    };
    return option;
}

template Option value(std::string&, Kind, std::vector<std::string>);
template Option value(std::optional<std::string>&, Kind, std::vector<std::string>);
template Option value(std::vector<std::string>&, Kind, std::vector<std::string>);
template Option value(fs::path&, Kind, std::vector<std::string>);
template Option value(std::optional<fs::path>&, Kind, std::vector<std::string>);
template Option value(std::vector<fs::path>&, Kind, std::vector<std::string>);

// The parser would read 010 as 8, and a number that is too large as the largest possible one.
template <class Number>
Option number(Number& target, std::uint64_t min, std::uint64_t max, Kind kind) {
    Option option{.kind = kind};
    if constexpr (std::is_integral_v<Number>)
        if (target != 0) option.default_value = std::to_string(target);
    option.take = [&target, min, max](const std::string& text) -> std::string {
        std::uint64_t number = 0;
        const auto* const end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, number);
        const bool is_padded = text.size() > 1 && text.front() == '0';
        const bool is_number = read.ec == std::errc{} && read.ptr == end && !is_padded;
        if (!is_number || number < min || number > max)
            return "\"" + escaped(text) + "\" is not a whole number from " + std::to_string(min) +
                   " to " + std::to_string(max);
        target = static_cast<Number>(number);
        return {};
    };
    return option;
}

template Option number(int&, std::uint64_t, std::uint64_t, Kind);
template Option number(std::int64_t&, std::uint64_t, std::uint64_t, Kind);
template Option number(std::uint64_t&, std::uint64_t, std::uint64_t, Kind);
template Option number(std::optional<std::uint64_t>&, std::uint64_t, std::uint64_t, Kind);

ExitCodes exits(std::initializer_list<int> usual, ExitCodes own) {
    for (const int code : usual)
        own.emplace(code, usual_meaning(code));
    return own;
}

}  // namespace mortise::cli
