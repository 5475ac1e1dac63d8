// `mortise run` with a cluster that is in the same process, for tests of what it does with
// processes and signals:
//
//     run_here HOW MAX_HOLD GRACE WAIT -- COMMAND...
//
// HOW is `free`; `taken`: another hold has the lock; or `broken`: the lock is broken soon after the
// grant. A time that is `none` is not set.
#include <chrono>
#include <csignal>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "tools/mortise/exit_code.hpp"
#include "tools/mortise/run/run_lock.hpp"
#include "tools/mortise/run/supervised_run.hpp"
#include <mortise/mortise.hpp>

namespace {

using namespace std::chrono_literals;
using mortise::Duration;

constexpr auto name = "jobs/nightly";
constexpr int first_word = 6;

// The lock is broken as soon as it is held.
void break_soon(mortise::Node& node, const std::stop_token& end) {
    while (!end.stop_requested()) {
        std::this_thread::sleep_for(300ms);
        const auto seen = node.inspect(name);
        if (!seen.is_held()) continue;
        node.break_lock(name, seen.holders.front().token, "test");
        return;
    }
}

int run(int argc, char** argv) {
    const std::string how = argv[1];
    const auto time = [&](int at) { return Duration::parse(argv[at]).value_or(Duration::max()); };
    mortise::cli::SupervisedRun supervised;
    mortise::Node node{mortise::Config::in_memory()};
    if (!node.wait_ready(std::chrono::steady_clock::now() + 10s)) return 1;
    mortise::Hold other;
    if (how == "taken") other = node.acquire(name, {.label = "the other"});
    std::jthread breaker;
    if (how == "broken")
        breaker = std::jthread{[&](const std::stop_token& end) { break_soon(node, end); }};
    const mortise::cli::RunLock lock{.names = {name}, .wait = time(4), .max_hold = time(2)};
    const std::vector<std::string> command(argv + first_word, argv + argc);
    return supervised.run(command, time(3).to_nanoseconds(), [&](const std::stop_token& cancel) {
        return acquire_for_run(node, lock, cancel);
    });
}

}  // namespace

int main(int argc, char** argv) {
    if (argc <= first_word) return 2;
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::cerr << "mortise: " << mortise::cli::line_of(error) << '\n';
        return static_cast<int>(mortise::cli::exit_code_of(error));
    }
}
