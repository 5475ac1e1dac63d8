// status, locks, inspect: a cluster as it is seen from outside.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/mortise/commands.hpp"
#include "tools/mortise/json_form.hpp"
#include "tools/mortise/table.hpp"
#include "tools/mortise/terminal.hpp"
#include <mortise/config.hpp>
#include <mortise/escaped.hpp>
#include <mortise/lock_error.hpp>
#include <mortise/remote.hpp>

namespace mortise::cli {

namespace {

constexpr std::size_t page = 1000;

// "1=host:port,2=host:port"
std::vector<std::string> addresses_in(std::string_view list) {
    std::vector<std::string> addresses;
    while (!list.empty()) {
        const auto comma = std::min(list.find(','), list.size());
        const auto entry = list.substr(0, comma);
        const auto equals = entry.find('=');
        if (equals == std::string_view::npos)
            throw Failure{ExitCode::config,
                          "MORTISE_PEER_LIST: not \"1=host:port,2=host:port\": " + escaped(list)};
        addresses.emplace_back(entry.substr(equals + 1));
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return addresses;
}

std::vector<std::string> addresses_of(const Access& access) {
    if (!access.peers.empty()) return access.peers;
    std::vector<std::string> addresses;
    if (access.config) {
        for (const auto& peer : Config::from_file(*access.config).peers)
            addresses.push_back(peer.address);
        if (addresses.empty())
            throw Failure{ExitCode::config, access.config->string() + ": names no peers"};
    } else if (const char* list = std::getenv("MORTISE_PEER_LIST")) {
        addresses = addresses_in(list);
    }
    if (addresses.empty())
        throw Failure{ExitCode::usage,
                      "which cluster? give --peer HOST:PORT or --config FILE, or set "
                      "MORTISE_PEER_LIST"};
    return addresses;
}

Duration timeout_of(const std::string& text) {
    const auto timeout = Duration::parse(text);
    if (timeout && *timeout > Duration::zero()) return *timeout;
    const auto seconds = Duration::parse(text + "s");
    const bool lacks_unit = seconds && *seconds > Duration::zero();
    throw Failure{ExitCode::usage, "--timeout: \"" + escaped(text) +
                                       "\" is not a duration: write " +
                                       (lacks_unit ? text + "s" : "5s or 250ms")};
}

Remote remote_of(const Access& access) {
    return Remote{addresses_of(access), timeout_of(access.timeout)};
}

[[noreturn]] void nobody_answered(std::string_view reason) {
    throw Failure{ExitCode::unavailable, "no member answered: " + std::string{reason}};
}

// What the first member says that has an answer.
template <class Ask>
auto answer_of(const Access& access, Ask ask) {
    auto remote = remote_of(access);
    try {
        return ask(remote);
    } catch (const LockError&) {
        throw;
    } catch (const std::system_error& error) {
        nobody_answered(line_of(error));
    }
}

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

// Most problems name the member already.
std::string reason_of(const MemberReport& report) {
    const bool named = report.problem.find(report.address) != std::string::npos;
    return named ? report.problem : report.address + ": " + report.problem;
}

std::vector<std::string> row_of(const MemberReport& report) {
    if (report.error) return {report.address, "-", "-", "-", "-", "-", escaped(report.problem)};
    const auto& status = report.status;
    return {report.address,
            std::to_string(status.id),
            std::string{to_string(status.standing)},
            std::to_string(status.term),
            status.leader ? std::to_string(*status.leader) : "-",
            std::to_string(status.applied_index),
            escaped(status.stopped ? "stopped: " + status.why_stopped
                    : status.ready ? "ready"
                                   : "not ready: " + status.why_not_ready)};
}

void add_rows(Table& table, const LockInfo& lock) {
    for (const auto& holder : lock.holders)
        table.add({escaped(lock.name), holder.cached ? "caches" : "holds",
                   std::string{to_string(holder.mode)}, std::to_string(holder.node),
                   std::to_string(holder.session), holder.token.to_string(),
                   std::to_string(holder.since), escaped(holder.label)});
    for (const auto& waiter : lock.waiters)
        table.add({escaped(lock.name), "waits", std::string{to_string(waiter.mode)},
                   std::to_string(waiter.node), std::to_string(waiter.session), "-",
                   std::to_string(waiter.since), escaped(waiter.label)});
}

Table lock_table() {
    return Table{{"NAME", "DOES", "MODE", "NODE", "SESSION", "TOKEN", "SINCE", "LABEL"}};
}

}  // namespace

ExitCode run(const StatusCommand& command) {
    const auto reports = remote_of(command.access).status();
    const bool answered =
        std::ranges::any_of(reports, [](const MemberReport& report) { return !report.error; });
    if (!answered) nobody_answered(reason_of(reports.front()));
    if (command.access.json) {
        auto list = Json::array();
        for (const auto& report : reports)
            list.push_back(json_of(report));
        std::cout << list.dump(2) << '\n';
        return ExitCode::ok;
    }
    Table table{{"PEER", "ID", "STANDING", "TERM", "LEADER", "APPLIED", "STATE"}};
    for (const auto& report : reports)
        table.add(row_of(report));
    std::cout << table.text(is_terminal());
    return ExitCode::ok;
}

ExitCode run(const LocksCommand& command) {
    const auto locks = answer_of(command.access, [&](Remote& remote) {
        return all_locks(remote, command.prefix, level_of(command.local));
    });
    if (command.access.json) {
        auto list = Json::array();
        for (const auto& lock : locks)
            list.push_back(json_of(lock));
        std::cout << list.dump(2) << '\n';
        return ExitCode::ok;
    }
    auto table = lock_table();
    for (const auto& lock : locks)
        add_rows(table, lock);
    std::cout << table.text(is_terminal());
    return ExitCode::ok;
}

ExitCode run(const InspectCommand& command) {
    const auto lock = answer_of(command.access, [&](Remote& remote) {
        return remote.inspect(command.name, level_of(command.local));
    });
    if (command.access.json) {
        std::cout << json_of(lock).dump(2) << '\n';
        return ExitCode::ok;
    }
    if (lock.holders.empty() && lock.waiters.empty()) {
        std::cout << escaped(command.name) << " is free\n";
        return ExitCode::ok;
    }
    auto table = lock_table();
    add_rows(table, lock);
    std::cout << table.text(is_terminal()) << "policy: " << to_string(lock.policy) << '\n';
    return ExitCode::ok;
}

}  // namespace mortise::cli
