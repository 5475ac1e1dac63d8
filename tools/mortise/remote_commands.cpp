// The commands status, locks, inspect and break, which query a cluster from outside.
#include <algorithm>
#include <cstdint>
#include <iostream>
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
#include <mortise/escaped.hpp>
#include <mortise/lock_error.hpp>
#include <mortise/remote.hpp>

namespace mortise::cli {

namespace {

constexpr std::size_t page = 1000;

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

std::string state_of(const Status& status) {
    const std::string state = status.stopped ? "stopped" : status.ready ? "ready" : "not ready";
    return status.insecure ? state + "; INSECURE: reachable without TLS" : state;
}

// Why a member is not ready, for a line below the table; empty if it is.
std::string trouble_of(const MemberReport& report) {
    if (report.error) return reason_of(report);
    const auto& status = report.status;
    if (status.stopped) return report.address + ": stopped: " + status.why_stopped;
    return status.ready ? "" : report.address + ": not ready: " + status.why_not_ready;
}

std::string reasons_of(const std::vector<MemberReport>& reports) {
    std::string text;
    for (const auto& report : reports)
        text += (text.empty() ? "" : "; ") + reason_of(report);
    return text;
}

std::vector<std::string> row_of(const MemberReport& report) {
    if (report.error) return {report.address, "-", "-", "-", "-", "-", "no answer"};
    const auto& status = report.status;
    return {report.address,
            std::to_string(status.id),
            std::string{to_string(status.standing)},
            std::to_string(status.term),
            status.leader ? std::to_string(*status.leader) : "-",
            std::to_string(status.applied_index),
            escaped(state_of(status))};
}

}  // namespace

ExitCode run(const StatusCommand& command) {
    const auto reports = remote_of(command.access).status();
    const bool answered =
        std::ranges::any_of(reports, [](const MemberReport& report) { return !report.error; });
    if (!answered)
        nobody_answered(reasons_of(reports) + "; start the nodes, or run mortise doctor");
    const bool all_ready = std::ranges::all_of(reports, [](const MemberReport& report) {
        return !report.error && report.status.ready && !report.status.stopped;
    });
    const auto code = command.ready && !all_ready ? ExitCode::unavailable : ExitCode::ok;
    if (command.access.json) {
        print(json_list(reports));
        return code;
    }
    Table table{{"PEER", "ID", "STANDING", "TERM", "LEADER", "APPLIED", "STATE"}};
    for (const auto& report : reports)
        table.add(row_of(report));
    std::cout << table.text(is_terminal());
    for (const auto& report : reports) {
        if (const auto trouble = trouble_of(report); !trouble.empty())
            std::cout << escaped(trouble) << '\n';
    }
    return code;
}

ExitCode run(const LocksCommand& command) {
    const auto prefix = looked_up_name_of(command.prefix, command.escaped);
    const auto locks = answer_of(command.access, [&](Remote& remote) {
        return all_locks(remote, prefix, level_of(command.local));
    });
    if (command.access.json) {
        print(json_list(locks));
        return ExitCode::ok;
    }
    std::cout << text_of(locks, is_terminal());
    return ExitCode::ok;
}

ExitCode run(const InspectCommand& command) {
    const auto name = looked_up_name_of(command.name, command.escaped);
    const auto lock = answer_of(command.access, [&](Remote& remote) {
        return remote.inspect(name, level_of(command.local));
    });
    if (command.access.json) {
        print(json_of(lock, with_values));
        return ExitCode::ok;
    }
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

}  // namespace mortise::cli
