// make_history [--seed N] [--names N] [--calls N] [--break KIND]: a history for history_check.
#include <charconv>
#include <cstdio>
#include <optional>
#include <string_view>

#include "tests/check/history_file.hpp"
#include "tests/check/made_history.hpp"

namespace mortise::check {

namespace {

struct Arguments {
    MadeOptions made{.seed = 1, .names = 100, .processes = 8, .calls = 1'000};
    std::optional<Breakage> breakage;
};

bool set(Arguments& arguments, std::string_view flag, std::string_view word) {
    if (flag == "--break") {
        for (const auto& [breakage, name] : breakages)
            if (name == word) arguments.breakage = breakage;
        return arguments.breakage.has_value();
    }
    std::uint64_t value = 0;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), value);
    if (parsed.ec != std::errc{} || parsed.ptr != word.data() + word.size()) return false;
    if (flag == "--seed") arguments.made.seed = value;
    if (flag == "--names") arguments.made.names = value;
    if (flag == "--calls") arguments.made.calls = value;
    return flag == "--seed" || flag == "--names" || flag == "--calls";
}

int run(const Arguments& arguments) {
    auto calls = made_history(arguments.made);
    core::Prng prng{arguments.made.seed};
    if (arguments.breakage && !break_history(calls, *arguments.breakage, prng)) return 1;
    for (const auto& call : calls)
        std::puts(to_line(call).c_str());
    return 0;
}

}  // namespace

}  // namespace mortise::check

int main(int count, char** words) {
    mortise::check::Arguments arguments;
    for (int i = 1; i < count; i += 2) {
        if (i + 1 < count && mortise::check::set(arguments, words[i], words[i + 1])) continue;
        std::fputs("make_history [--seed N] [--names N] [--calls N] [--break KIND]\n", stderr);
        return 2;
    }
    return mortise::check::run(arguments);
}
