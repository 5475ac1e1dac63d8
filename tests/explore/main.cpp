// raft_explore: searches, and prints the result in its last line.
#include <charconv>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string_view>

#include <sys/resource.h>

#include "tests/explore/explorer.hpp"

namespace mortise::explore {

namespace {

constexpr const char* usage =
    "raft_explore [--start fresh|led|divided] [--time-outs N] [--crashes N] [--proposals N]\n"
    "    [--duplicates N] [--drops N] [--heartbeats N] [--reads 0|1] [--transfers N]\n"
    "                         how often that may happen; 255 is any number\n"
    "    [--power-losses N] [--questions N]\n"
    "    [--in-memory]        the cluster acknowledges from memory\n"
    "    [--packets-max N]    so many are on their way at a time\n"
    "    [--instant-disk]     every write is done before anything else happens\n"
    "    [--states-max N]     stop there\n"
    "    [--states-min N]     fewer are a failure: the search was not what it should be\n"
    "    [--expect-violation] to find one is success: a mutant is at work\n";

struct Arguments {
    Options options;
    std::size_t states_min = 0;
    bool expect_violation = false;
};

std::optional<std::size_t> number(std::string_view word) {
    std::size_t value = 0;
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), value);
    if (parsed.ec != std::errc{} || parsed.ptr != word.data() + word.size()) return std::nullopt;
    return value;
}

bool set_start(Options& options, std::string_view word) {
    if (word == "fresh") options.start = Start::fresh;
    if (word == "led") options.start = Start::led;
    if (word == "divided") options.start = Start::divided;
    return word == "fresh" || word == "led" || word == "divided";
}

std::uint8_t* budget_of(Budget& budget, std::string_view flag) {
    if (flag == "--time-outs") return &budget.time_outs;
    if (flag == "--crashes") return &budget.crashes;
    if (flag == "--proposals") return &budget.proposals;
    if (flag == "--duplicates") return &budget.duplicates;
    if (flag == "--drops") return &budget.drops;
    if (flag == "--heartbeats") return &budget.heartbeats;
    if (flag == "--reads") return &budget.reads;
    if (flag == "--transfers") return &budget.transfers;
    if (flag == "--power-losses") return &budget.power_losses;
    if (flag == "--questions") return &budget.questions;
    return nullptr;
}

bool set_number(Arguments& arguments, std::string_view flag, std::size_t value) {
    auto& options = arguments.options;
    if (auto* part = budget_of(options.budget, flag)) {
        const std::size_t most = flag == "--reads" ? 1 : any_number;
        *part = static_cast<std::uint8_t>(value);
        return value <= most;
    }
    if (flag == "--packets-max") options.packets_max = value;
    if (flag == "--states-max") options.states_max = value;
    if (flag == "--states-min") arguments.states_min = value;
    return flag == "--packets-max" || flag == "--states-max" || flag == "--states-min";
}

bool* switch_of(Arguments& arguments, std::string_view flag) {
    if (flag == "--expect-violation") return &arguments.expect_violation;
    if (flag == "--instant-disk") return &arguments.options.instant_disk;
    if (flag == "--in-memory") return &arguments.options.in_memory;
    return nullptr;
}

std::optional<Arguments> parse(int count, char** words) {
    Arguments arguments;
    for (int i = 1; i < count; ++i) {
        const std::string_view flag{words[i]};
        if (auto* chosen = switch_of(arguments, flag)) {
            *chosen = true;
            continue;
        }
        if (++i == count) return std::nullopt;
        if (flag == "--start") {
            if (!set_start(arguments.options, words[i])) return std::nullopt;
            continue;
        }
        const auto value = number(words[i]);
        if (!value || !set_number(arguments, flag, *value)) return std::nullopt;
    }
    return arguments;
}

double peak_gib() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return static_cast<double>(used.ru_maxrss) / (1 << 20);
}

bool is_success(const Arguments& arguments, const Report& report) {
    const bool found = !report.violation.empty();
    return found == arguments.expect_violation && report.states >= arguments.states_min;
}

int run(const Arguments& arguments) {
    const auto began = std::chrono::steady_clock::now();
    Explorer explorer{arguments.options};
    const auto report = explorer.run();
    const auto took = std::chrono::steady_clock::now() - began;
    if (!report.violation.empty()) {
        std::printf("VIOLATION: %s\n", report.violation.c_str());
        for (const auto& line : report.trace)
            std::printf("  %s\n", line.c_str());
    }
    std::printf(
        "explore: %zu states, depth %zu%s, %zu machines, %zu steps of the core, %.1f s, "
        "%.1f GiB, %d violations\n",
        report.states, report.depth, report.complete ? " (complete)" : "", report.machines,
        report.steps, std::chrono::duration<double>(took).count(), peak_gib(),
        report.violation.empty() ? 0 : 1);
    return is_success(arguments, report) ? 0 : 1;
}

}  // namespace

}  // namespace mortise::explore

int main(int count, char** words) {
    const auto arguments = mortise::explore::parse(count, words);
    if (!arguments) {
        std::fputs(mortise::explore::usage, stderr);
        return 2;
    }
    return mortise::explore::run(*arguments);
}
