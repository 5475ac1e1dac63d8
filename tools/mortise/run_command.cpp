// The command run: a command that is executed while a lock is held.
#include <algorithm>
#include <array>
#include <chrono>
#include <stop_token>
#include <string>
#include <utility>

#include <unistd.h>

#include "tools/mortise/access.hpp"
#include "tools/mortise/commands.hpp"
#include "tools/mortise/run/run_lock.hpp"
#include "tools/mortise/run/supervised_run.hpp"
#include <mortise/escaped.hpp>
#include <mortise/node.hpp>

namespace mortise::cli {

namespace {

constexpr std::size_t label_bytes_max = 256;
constexpr std::size_t name_bytes_max = 512;

std::string default_label(const std::vector<std::string>& command) {
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    const auto label =
        std::string{host.data()} + "/" + std::to_string(::getpid()) + ": " + command.front();
    return label.substr(0, label_bytes_max);
}

Duration time_or(const char* option, const std::string& text, Duration otherwise) {
    return text.empty() ? otherwise : duration_of(option, text);
}

RunLock lock_of(const RunCommand& command) {
    return {.name = command.lock,
            .is_shared = command.shared,
            .wait = time_or("--wait", command.wait, Duration::max()),
            .max_hold = time_or("--max-hold", command.max_hold, Duration::max()),
            .min_hold = time_or("--min-hold", command.min_hold, Duration::zero()),
            .label = command.label.value_or(default_label(command.command))};
}

// A hold is renewed when half of the TTL is left at the latest, so a longer time of grace would end
// every command.
Duration grace_of(const RunCommand& command, Duration ttl) {
    const auto whole = ttl.to_nanoseconds();
    const auto grace = time_or("--grace", command.grace, whole / 4);
    if (grace.to_nanoseconds() < whole / 2) return grace;
    throw Failure{ExitCode::usage, "--grace: " + to_string(grace) +
                                       " is not less than half of the session TTL, "
                                       "which is " +
                                       to_string(ttl)};
}

void check(const RunCommand& command) {
    if (command.lock.empty() || command.lock.size() > name_bytes_max)
        throw Failure{ExitCode::usage, "--lock: a name has 1 to 512 bytes"};
    if (!command.misplaced.empty())
        throw Failure{ExitCode::usage, "write -- before the command: mortise run --lock NAME -- " +
                                           escaped(command.misplaced.front())};
    if (command.command.empty())
        throw Failure{ExitCode::usage,
                      "which command? it stands after --: mortise run --lock NAME -- CMD"};
}

// Without a limit for the wait, a cluster that cannot be reached would look like a lock that others
// have.
void wait_ready(Node& node, const std::string& timeout, const std::stop_token& cancel) {
    constexpr auto glance = std::chrono::milliseconds{100};
    const auto until = std::chrono::steady_clock::now() + duration_of("--timeout", timeout);
    while (!cancel.stop_requested()) {
        const auto now = std::chrono::steady_clock::now();
        if (node.wait_ready(std::min(until, now + glance))) return;
        if (now < until) continue;
        throw Failure{ExitCode::unavailable,
                      "the cluster cannot be reached: " + node.status().why_not_ready};
    }
}

}  // namespace

ExitCode run(const RunCommand& command) {
    check(command);
    const auto lock = lock_of(command);
    auto config = client_config_of(command.access, command.ttl);
    // The lock is released before that. A session without locks may as well expire.
    config.timing.close_timeout = std::chrono::milliseconds{200};
    const auto grace = grace_of(command, config.timing.session_ttl).to_nanoseconds();
    SupervisedRun supervised;  // before the node has threads
    Node node{config};
    const auto code = supervised.run(command.command, grace, [&](const std::stop_token& cancel) {
        wait_ready(node, command.access.timeout, cancel);
        return acquire_for_run(node, lock, cancel);
    });
    node.close();
    return ExitCode{code};
}

}  // namespace mortise::cli
