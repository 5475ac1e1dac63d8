#include "tests/sim/arguments.hpp"

#include <charconv>

namespace mortise::sim {

namespace {

std::optional<std::uint64_t> number(const std::string& word) {
    std::uint64_t value = 0;
    const auto* end = word.data() + word.size();
    const auto parsed = std::from_chars(word.data(), end, value);
    if (parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
    return value;
}

}  // namespace

std::variant<Arguments, BadArguments> parse(const std::vector<std::string>& words) {
    Arguments arguments;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto& flag = words[i];
        if (flag == "--until-failure") {
            arguments.until_failure = true;
            continue;
        }
        if (flag == "--trace") {
            arguments.trace = true;
            continue;
        }
        const bool known =
            flag == "--seeds" || flag == "--first" || flag == "--seed" || flag == "--steps";
        if (!known) return BadArguments{"does not understand '" + flag + "'"};
        const auto value = i + 1 < words.size() ? number(words[++i]) : std::nullopt;
        if (!value) return BadArguments{flag + " takes a number"};
        if (flag == "--seeds") arguments.seeds = *value;
        if (flag == "--first") arguments.first = *value;
        if (flag == "--seed") arguments.seed = *value;
        if (flag == "--steps") arguments.steps = *value;
    }
    if (arguments.trace && !arguments.seed) return BadArguments{"--trace goes with --seed"};
    return arguments;
}

}  // namespace mortise::sim
