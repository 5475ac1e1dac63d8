// The commands members and transfer-leader: the members of a cluster, and its leader.
#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/mortise/access.hpp"
#include "tools/mortise/commands.hpp"
#include "tools/mortise/json_form.hpp"
#include "tools/mortise/table.hpp"
#include "tools/mortise/terminal.hpp"
#include <mortise/escaped.hpp>

namespace mortise::cli {

namespace {

const MemberInfo* find_leader(const Status& status) {
    if (!status.leader) return nullptr;
    const auto found = std::ranges::find(status.members, *status.leader, &MemberInfo::id);
    return found == status.members.end() ? nullptr : &*found;
}

std::optional<Status> first_answer(const std::vector<MemberReport>& reports) {
    const auto found =
        std::ranges::find_if(reports, [](const MemberReport& report) { return !report.error; });
    return found == reports.end() ? std::nullopt : std::optional{found->status};
}

bool leads(const Status& status) {
    return status.standing == Standing::leader;
}

// The status from the leader if possible, since only the leader knows the progress of all members.
Status best_status(const Access& access) {
    const auto reports = remote_of(access).status();
    for (const auto& report : reports) {
        if (!report.error && leads(report.status)) return report.status;
    }
    auto status = first_answer(reports);
    if (!status) nobody_answered(reason_of(reports.front()));
    const auto* leader = find_leader(*status);
    if (leader == nullptr) return *status;
    Access to_leader = access;
    to_leader.peers = {leader->address};  // before those of the configuration
    const auto better = first_answer(remote_of(to_leader).status());
    return better && leads(*better) ? *better : *status;
}

std::string role_of(const MemberInfo& member) {
    if (member.leaving) return "leaving";
    return std::string{to_string(member.role)};
}

std::optional<std::uint64_t> lag_of(const MemberInfo& member, const Status& status) {
    const auto* leader = find_leader(status);
    if (leader == nullptr || !leads(status)) return std::nullopt;
    return leader->matching - std::min(leader->matching, member.matching);
}

std::vector<std::string> row_of(const MemberInfo& member, const Status& status) {
    const auto lag = lag_of(member, status);
    const bool is_leader = status.leader == member.id;
    return {std::to_string(member.id),
            escaped(member.address),
            role_of(member) + (is_leader ? ", leads" : ""),
            member.connected ? "yes" : "no",
            lag ? std::to_string(member.matching) : "-",
            lag ? std::to_string(*lag) : "-",
            hexadecimal(member.incarnation)};
}

// With what only the leader knows, if it has answered.
Json listed(const MemberInfo& member, const Status& status) {
    const auto lag = lag_of(member, status);
    auto json = json_of(member);
    json["leads"] = status.leader == member.id;
    json["lag"] = lag ? Json(*lag) : Json(nullptr);
    if (!lag) json["matching"] = nullptr;
    return json;
}

void ask(Remote& remote, const ChangeCommand& command) {
    switch (command.what) {
        case ChangeCommand::What::add: return remote.add_member(command.id, command.address);
        case ChangeCommand::What::promote: return remote.promote_member(command.id);
        case ChangeCommand::What::move: return remote.move_member(command.id, command.address);
        case ChangeCommand::What::remove: return remote.remove_member(command.id);
        case ChangeCommand::What::lead: return remote.transfer_leadership(command.id);
    }
}

std::string_view done(ChangeCommand::What what) {
    switch (what) {
        case ChangeCommand::What::add: return "is a member";
        case ChangeCommand::What::promote: return "votes";
        case ChangeCommand::What::remove: return "is not a member";
        case ChangeCommand::What::move: return "has this address now";
        case ChangeCommand::What::lead: break;
    }
    return "leads";
}

}  // namespace

ExitCode run(const MembersCommand& command) {
    const auto status = best_status(command.access);
    if (command.access.json) {
        auto list = Json::array();
        for (const auto& member : status.members)
            list.push_back(listed(member, status));
        print(list);
        return ExitCode::ok;
    }
    Table table{{"ID", "ADDRESS", "ROLE", "CONNECTED", "HAS", "LAGS", "INCARNATION"}};
    for (const auto& member : status.members)
        table.add(row_of(member, status));
    std::cout << table.text(is_terminal());
    return ExitCode::ok;
}

ExitCode run(const ChangeCommand& command) {
    try {
        answer_of(command.access, [&](Remote& remote) {
            ask(remote, command);
            return true;
        });
    } catch (const LockError& error) {
        if (error.detail().reason.empty()) throw;
        throw Failure{exit_code_of(error), error.detail().name + ": " + error.detail().reason};
    }
    if (command.access.json) {
        print({{"id", command.id}, {"done", done(command.what)}});
    } else {
        std::cout << "node " << command.id << ' ' << done(command.what) << '\n';
    }
    return ExitCode::ok;
}

}  // namespace mortise::cli
