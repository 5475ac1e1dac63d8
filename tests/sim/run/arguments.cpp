#include "tests/sim/run/arguments.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>

namespace mortise::sim {

namespace {

std::optional<std::uint64_t> number(const std::string& word) {
    std::uint64_t value = 0;
    const auto* end = word.data() + word.size();
    const auto parsed = std::from_chars(word.data(), end, value);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
    return value;
}

// Parses fault names that are separated by commas. Empty if one is unknown.
std::optional<Faults> faults(const std::string& words) {
    Faults found;
    for (std::size_t begin = 0; begin < words.size();) {
        const auto end = std::min(words.find(',', begin), words.size());
        const auto fault = fault_named(std::string_view{words}.substr(begin, end - begin));
        if (!fault) return std::nullopt;
        found.set(static_cast<std::size_t>(*fault));
        begin = end + 1;
    }
    return found;
}

// Returns what is wrong with this flag and its value, or nothing.
std::string take(const std::string& flag, const std::string* value, Arguments& arguments) {
    if (flag == "--list") {
        if (value == nullptr) return "--list takes a file";
        arguments.list = *value;
        return {};
    }
    if (flag == "--without") {
        const auto without = value == nullptr ? std::nullopt : faults(*value);
        if (!without) return "--without takes faults, as cut-split,pause";
        arguments.without = *without;
        return {};
    }
    const std::map<std::string, std::function<void(std::uint64_t)>> numbers = {
        {"--seeds", [&](auto n) { arguments.seeds = n; }},
        {"--first", [&](auto n) { arguments.first = n; }},
        {"--seed", [&](auto n) { arguments.seed = n; }},
        {"--steps", [&](auto n) { arguments.steps = n; }},
        {"--jobs", [&](auto n) { arguments.jobs = static_cast<unsigned>(n); }},
        {"--minimise", [&](auto n) { arguments.minimise = n; }},
    };
    const auto known = numbers.find(flag);
    if (known == numbers.end()) return "does not understand '" + flag + "'";
    const auto given = value == nullptr ? std::nullopt : number(*value);
    if (!given) return flag + " takes a number";
    if (flag == "--jobs" && (*given == 0 || *given > jobs_max)) return "--jobs takes 1 to 256";
    known->second(*given);
    return {};
}

}  // namespace

std::variant<Arguments, BadArguments> parse(const std::vector<std::string>& words) {
    Arguments arguments;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto& flag = words[i];
        if (flag == "--until-failure") {
            arguments.until_failure = true;
        } else if (flag == "--trace") {
            arguments.trace = true;
        } else {
            const auto* value = i + 1 < words.size() ? &words[++i] : nullptr;
            if (auto why = take(flag, value, arguments); !why.empty()) return BadArguments{why};
        }
    }
    if (arguments.trace && !arguments.seed) return BadArguments{"--trace goes with --seed"};
    return arguments;
}

}  // namespace mortise::sim
