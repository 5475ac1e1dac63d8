// The command run: a command that is executed while a lock is held.
#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include <unistd.h>

#include "tools/mortise/access.hpp"
#include "tools/mortise/commands.hpp"
#include "tools/mortise/run/run_lock.hpp"
#include "tools/mortise/run/supervised_run.hpp"
#include "tools/mortise/typed_name.hpp"
#include <mortise/escaped.hpp>
#include <mortise/node.hpp>

namespace mortise::cli {

namespace {

struct RunCommand {
    Access access{.timeout = "10s"};
    std::string lock;
    bool escaped = false;
    bool shared = false;
    // As typed.
    std::optional<std::string> wait;
    std::optional<std::string> max_hold;
    std::optional<std::string> min_hold;
    std::optional<std::string> grace;
    std::optional<std::string> ttl;
    std::optional<std::string> label;
    std::vector<std::string> command;    // what stands after "--"
    std::vector<std::string> misplaced;  // what stands before it
};

using Clock = std::chrono::steady_clock;

constexpr Duration call_timeout_max = std::chrono::seconds{1};
constexpr std::size_t label_bytes_max = 256;
constexpr std::size_t name_bytes_max = 512;

std::string default_label(const std::vector<std::string>& command) {
    std::array<char, 256> host{};
    ::gethostname(host.data(), host.size() - 1);
    const auto label =
        std::string{host.data()} + "/" + std::to_string(::getpid()) + ": " + command.front();
    return label.substr(0, label_bytes_max);
}

Duration time_or(const char* option, const std::optional<std::string>& text, Duration otherwise) {
    return text ? duration_of(option, *text) : otherwise;
}

RunLock lock_of(const RunCommand& command) {
    return {.name = name_of(command.lock, command.escaped),
            .is_shared = command.shared,
            .wait = time_or("--wait", command.wait, Duration::max()),
            .max_hold = time_or("--max-hold", command.max_hold, Duration::max()),
            .min_hold = time_or("--min-hold", command.min_hold, Duration::zero()),
            .label = command.label.value_or(default_label(command.command))};
}

// A hold is renewed when half of the TTL is left at the latest, so a longer time of grace would end
// every command. One that is as long as the hold may last would end it before it did anything.
Duration grace_of(const RunCommand& command, Duration ttl, Duration max_hold) {
    const auto grace =
        time_or("--grace", command.grace, std::min(ttl, max_hold).to_nanoseconds() / 4);
    if (grace.to_nanoseconds() >= ttl.to_nanoseconds() / 2)
        throw Failure{ExitCode::usage, "--grace: " + to_string(grace) +
                                           " is not less than half of the session TTL, "
                                           "which is " +
                                           to_string(ttl)};
    if (grace >= max_hold && command.grace)
        throw Failure{ExitCode::usage, "--grace: " + to_string(grace) +
                                           " is not less than --max-hold, which is " +
                                           to_string(max_hold)};
    return grace;
}

void check(const RunCommand& command) {
    const auto name = name_of(command.lock, command.escaped);
    if (name.empty() || name.size() > name_bytes_max)
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
void wait_ready(Node& node, Clock::time_point until, const std::stop_token& cancel) {
    constexpr auto glance = std::chrono::milliseconds{100};
    while (!cancel.stop_requested()) {
        const auto now = Clock::now();
        if (node.wait_ready(std::min(until, now + glance))) return;
        if (now < until) continue;
        throw Failure{ExitCode::unavailable,
                      "the cluster cannot be reached: " + node.status().why_not_ready};
    }
}

ExitCode run(const RunCommand& command) {
    check(command);
    const auto timeout = positive_duration_of("--timeout", command.access.timeout);
    auto lock = lock_of(command);
    auto config = client_config_of(command.access, command.ttl);
    const auto grace = grace_of(command, config.timing.session_ttl, lock.max_hold);
    lock.patience = config.timing.call_timeout;
    // A cluster that is away must not keep this program, and its signals, for longer.
    config.timing.call_timeout = std::min(config.timing.call_timeout, call_timeout_max);
    // The lock is released before that. A session without locks may as well expire.
    config.timing.close_timeout = std::chrono::milliseconds{200};
    const auto until = Clock::now() + timeout;
    SupervisedRun supervised;  // before the node has threads
    std::optional<Node> node;
    const auto acquire = [&](const std::stop_token& cancel) {
        if (config.cluster.empty()) config.cluster = cluster_of_members(config, until, cancel);
        node.emplace(config);
        wait_ready(*node, until, cancel);
        return acquire_for_run(*node, lock, cancel);
    };
    const auto code = supervised.run(command.command, grace.to_nanoseconds(), acquire);
    if (node) node->close();
    return ExitCode{code};
}

}  // namespace

Command run_command() {
    const auto self = std::make_shared<RunCommand>();
    return {
        .name = "mortise run",
        .purpose = "Run a command while a lock is held",
        .arguments = {required("CMD", value(self->misplaced, Kind::command),
                               "The command and its arguments")},
        .options = with_members(
            self->access,
            {required("--lock NAME", value(self->lock, Kind::lock), "The name of the lock"),
             escaped_flag(self->escaped, "The name"),
             flag("--shared", self->shared, "Others may hold it in shared mode as well"),
             option("--wait DURATION", value(self->wait),
                    "How long to wait for the lock, 0s for one attempt (default: no limit)"),
             option("--max-hold DURATION", value(self->max_hold),
                    "End the command after this time (default: no limit)"),
             option("--min-hold DURATION", value(self->min_hold),
                    "Keep the name closed for this time from the grant, even if the command ends "
                    "earlier"),
             option("--grace DURATION", value(self->grace),
                    "How long before the end of the lease the command receives SIGTERM, less than "
                    "half of --ttl (default: a quarter of --ttl)"),
             option("--ttl DURATION", value(self->ttl),
                    "After how long the lock is free if this machine dies (default: that of "
                    "--config, or 10s)"),
             option("--label TEXT", value(self->label),
                    "Shown to others (default: the host, the process and the command)")}),
        .notes =
            "The command finds its lock in MORTISE_LOCK and the fencing token in "
            "MORTISE_FENCING_TOKEN. If the lease cannot be renewed, its process group receives "
            "SIGTERM, and SIGKILL when the lease ends. It is killed with this program, and when "
            "the lock is broken. Signals are passed on. Without --peer and --config, "
            "MORTISE_PEER_LIST names the members.",
        .examples = {{"mortise run --lock jobs/nightly --wait 0s --peer 10.0.0.1:7401 -- "
                      "./nightly.sh",
                      "Runs the job unless another machine runs it now."},
                     {"mortise run --lock reports --shared --max-hold 1h --grace 30s --config "
                      "mortise.toml -- make report",
                      "Runs beside other readers, for an hour at most, and asks make to end 30 s "
                      "before."}},
        .exit_codes = exits(
            {64, 65, 66, 77, 78},
            {{0, "the command ended with 0; other codes of the command are passed on as well"},
             {69, "no member answers, or there is no majority; the command did not run"},
             {75, "others keep the lock for longer than --wait; the command did not run"},
             {76, "the lock was lost, or about to be, and the command was ended"},
             {126, "the command cannot be executed"},
             {127, "the command was not found"},
             {128, "and more: the signal that ended the command, plus 128"}}),
        .run = [self] { return run(*self); },
        .words = &self->command};
}

}  // namespace mortise::cli
