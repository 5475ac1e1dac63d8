// The commands status, locks, inspect and break, which query a cluster from outside.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/mortise/access.hpp"
#include "tools/mortise/commands.hpp"
#include "tools/mortise/json_form.hpp"
#include "tools/mortise/lock_text.hpp"
#include "tools/mortise/table.hpp"
#include "tools/mortise/terminal.hpp"
#include "tools/mortise/typed_name.hpp"
#include <mortise/config.hpp>
#include <mortise/detail/told_once.hpp>
#include <mortise/escaped.hpp>
#include <mortise/lock_error.hpp>
#include <mortise/remote.hpp>

namespace mortise::cli {

namespace {

struct StatusCommand {
    Access access;
    bool ready = false;  // a member that is not ready is a failure
};

// Of one lock, or of those with a prefix.
struct LookCommand {
    Access access;
    std::string name;
    bool escaped = false;  // as listings show it, here and below
    bool local = false;
};

struct BreakCommand {
    Access access{.timeout = "15s"};
    std::string name;
    bool escaped = false;
    std::int64_t token = 0;
    std::string reason;
    bool now = false;
};

constexpr std::size_t page = 1000;
constexpr std::size_t leaders_max = 100;

ReadLevel level_of(bool local) {
    return local ? ReadLevel::local : ReadLevel::linearizable;
}

std::vector<LockInfo> all_locks(Remote& remote, const std::string& prefix, ReadLevel level) {
    std::vector<LockInfo> locks;
    std::string after;
    while (true) {
        auto part = remote.list(prefix, after, page, level);
        if (part.empty()) return locks;
        after = part.back().name;
        const bool last = part.size() < page;
        std::ranges::move(part, std::back_inserter(locks));
        if (last) return locks;
    }
}

// A list has no bytes of values. Those of names that may be elections are asked for one by one, of
// the first ones: the value of a leader is what somebody looks for.
void add_values_of_leaders(Remote& remote, std::vector<LockInfo>& locks, ReadLevel level) {
    auto asked = leaders_max;
    for (auto& lock : locks) {
        if (!lock.value || lock.holders_total != 1 || asked == 0) continue;
        --asked;
        auto now = remote.inspect(lock.name, level);
        if (leader_value(now)) lock = std::move(now);
    }
}

std::string state_of(const Status& status) {
    const std::string state = status.stopped ? "stopped" : status.ready ? "ready" : "not ready";
    const std::string forgetful = status.forgetful ? "; recovers from a loss of power" : "";
    return state + forgetful + (status.insecure ? "; INSECURE: reachable without TLS" : "");
}

// Why a member is not ready; empty if it is.
std::string trouble_of(const MemberReport& report) {
    if (report.error) return report.problem;
    const auto& status = report.status;
    if (status.stopped) return "stopped: " + status.why_stopped;
    return status.ready ? "" : "not ready: " + status.why_not_ready;
}

// The lines below the table.
std::vector<std::string> troubles_of(const std::vector<MemberReport>& reports) {
    std::vector<detail::MemberProblem> troubles;
    for (const auto& report : reports)
        if (auto trouble = trouble_of(report); !trouble.empty())
            troubles.push_back({report.address, std::move(trouble)});
    return detail::told_once(troubles);
}

std::vector<std::string> row_of(const MemberReport& report) {
    if (report.error) return {report.address, "-", "-", "-", "-", "-", "-", "no answer"};
    const auto& status = report.status;
    return {report.address,
            std::to_string(status.id),
            std::string{to_string(status.standing)},
            std::to_string(status.term),
            status.leader ? std::to_string(*status.leader) : "-",
            std::to_string(status.applied_index),
            status.cluster_id.empty() ? "-" : std::string{to_string(status.durability)},
            escaped(state_of(status))};
}

ExitCode run(const StatusCommand& command) {
    const auto reports = remote_of(command.access).status();
    const bool answered =
        std::ranges::any_of(reports, [](const MemberReport& report) { return !report.error; });
    if (!answered)
        nobody_answered(reasons_of(reports) + "; start the nodes, or run mortise doctor");
    const auto is_ready = [](const MemberReport& report) {
        return !report.error && report.status.ready && !report.status.stopped;
    };
    const bool is_well = command.ready ? std::ranges::all_of(reports, is_ready)
                                       : std::ranges::any_of(reports, is_ready);
    const auto code = is_well ? ExitCode::ok : ExitCode::unavailable;
    if (command.access.json) {
        print(json_list(reports));
        return code;
    }
    Table table{{"PEER", "ID", "STANDING", "TERM", "LEADER", "APPLIED", "DURABILITY", "STATE"}};
    for (const auto& report : reports)
        table.add(row_of(report));
    std::cout << table.text(is_terminal());
    for (const auto& trouble : troubles_of(reports))
        std::cout << escaped(trouble) << '\n';
    return code;
}

ExitCode list(const LookCommand& command) {
    const auto prefix = looked_up_name_of(command.name, command.escaped);
    const auto locks = answer_of(command.access, [&](Remote& remote) {
        auto found = all_locks(remote, prefix, level_of(command.local));
        add_values_of_leaders(remote, found, level_of(command.local));
        return found;
    });
    if (command.access.json)
        print(json_list(locks));
    else
        std::cout << text_of(locks, is_terminal());
    return ExitCode::ok;
}

ExitCode inspect(const LookCommand& command) {
    const auto name = looked_up_name_of(command.name, command.escaped);
    const auto lock = answer_of(command.access, [&](Remote& remote) {
        return remote.inspect(name, level_of(command.local));
    });
    if (command.access.json)
        print(json_of(lock, with_values));
    else
        std::cout << text_of(lock, is_terminal());
    return ExitCode::ok;
}

ExitCode run(const BreakCommand& command) {
    const auto name = looked_up_name_of(command.name, command.escaped);
    const auto mode = command.now ? BreakMode::immediate : BreakMode::confirmed;
    try {
        answer_of(command.access, [&](Remote& remote) {
            remote.break_lock(name, FencingToken::from_raw(command.token), command.reason, mode);
            return true;
        });
    } catch (const LockError& error) {
        if (error.code() == Errc::not_held) {
            throw Failure{ExitCode::failed, escaped_name(name) + " is not held under token " +
                                                std::to_string(command.token) +
                                                "; mortise inspect shows the present one"};
        }
        if (error.detail().reason.empty()) throw;
        throw Failure{exit_code_of(error),
                      escaped_name(name) + ": " + escaped(error.detail().reason)};
    }
    if (command.access.json) {
        print({{"name", json_text(name)},
               {"token", std::to_string(command.token)},
               {"done", "broken"}});
    } else {
        std::cout << escaped_name(name) << " is broken\n";
    }
    return ExitCode::ok;
}

}  // namespace

Command status_command() {
    const auto self = std::make_shared<StatusCommand>();
    return {
        .name = "mortise status",
        .purpose = "Show the members of a cluster",
        .options = {flag("--ready", self->ready,
                         "Exit with 69 unless every member that is named answers and is ready")},
        .examples = {{"mortise status --peer 10.0.0.1:7401 --peer 10.0.0.2:7401 --peer "
                      "10.0.0.3:7401",
                      "Asks three members what they know of themselves and of the cluster."},
                     {"mortise status --ready --peer 127.0.0.1:7401",
                      "Is the health check of one member."}},
        .exit_codes = {{69, "no member answers and is ready; with --ready: not all do and are"}},
        .run = [self] { return run(*self); },
        .access = &self->access};
}

Command locks_command() {
    const auto self = std::make_shared<LookCommand>();
    return {.name = "mortise locks",
            .purpose = "List locks: who holds them, who waits",
            .arguments = {option("PREFIX", value(self->name, Kind::lock),
                                 "Only names with this prefix")},
            .options = {escaped_flag(self->escaped, "PREFIX"), local_flag(self->local)},
            .examples = {{"mortise locks --peer 10.0.0.1:7401",
                          "Lists all locks with holders and waiters."},
                         {"mortise locks orders/ --json --peer 10.0.0.1:7401",
                          "Prints those whose names begin with orders/ as JSON."}},
            .run = [self] { return list(*self); },
            .access = &self->access};
}

Command inspect_command() {
    const auto self = std::make_shared<LookCommand>();
    return {.name = "mortise inspect",
            .purpose = "Show one lock",
            .arguments = {required("NAME", value(self->name, Kind::lock), "The lock")},
            .options = {escaped_flag(self->escaped, "NAME"), local_flag(self->local)},
            .examples = {{"mortise inspect orders/42 --peer 10.0.0.1:7401",
                          "Shows who holds orders/42, with which token, and who waits."},
                         {"mortise inspect orders/42 --local --peer 10.0.0.3:7401",
                          "Shows what that member knows, although it may have no majority."}},
            .run = [self] { return inspect(*self); },
            .access = &self->access};
}

Command break_command() {
    const auto self = std::make_shared<BreakCommand>();
    return {.name = "mortise break",
            .purpose = "Take a lock away from its holder",
            .arguments = {required("NAME", value(self->name, Kind::lock), "The lock")},
            .options = {escaped_flag(self->escaped, "NAME"),
                        required("--token TOKEN", number(self->token, 0, INT64_MAX),
                                 "The holder's token, or the one under which the name is closed, "
                                 "as mortise inspect shows it; with another one nothing happens"),
                        required("--reason TEXT", value(self->reason), "Shown in logs and events"),
                        flag("--now", self->now,
                             "Do not wait for the holder's node: two may hold it for a while")},
            .examples = {{"mortise break orders/42 --token 17 --reason 'host is dead' --peer "
                          "10.0.0.1:7401",
                          "Takes the lock away from the holder that `mortise inspect` shows with "
                          "token 17."},
                         {"mortise break orders/42 --token 17 --reason 'host is dead' --now --peer "
                          "10.0.0.1:7401",
                          "The same without waiting until the former holder cannot use it any "
                          "more."}},
            .exit_codes = {{1, "nobody holds the lock with that token"},
                           {69,
                            "no member answers, or there is no majority, or it is unknown "
                            "whether the lock was broken"}},
            .run = [self] { return run(*self); },
            .access = &self->access};
}

}  // namespace mortise::cli
