// The commands members and transfer-leader: the members of a cluster, and its leader.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
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

struct MembersCommand {
    Access access;
};

// Changes wait for a new member to catch up, and for another change in progress.
struct ChangeCommand {
    std::string done{};  // what is true of the node afterwards
    std::function<void(Remote&, const ChangeCommand&)> make{};
    Access access{.timeout = "15s"};
    NodeId id = 0;
    std::string address{};
};

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
    if (!status) nobody_answered(reasons_of(reports));
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
            command.make(remote, command);
            return true;
        });
    } catch (const LockError& error) {
        if (error.detail().reason.empty()) throw;
        throw Failure{exit_code_of(error), error.detail().name + ": " + error.detail().reason};
    }
    if (command.access.json) {
        print({{"id", command.id}, {"done", command.done}});
    } else {
        std::cout << "node " << command.id << ' ' << command.done << '\n';
    }
    return ExitCode::ok;
}

// The values of `change` are the command's; without a text for its address it takes none.
Command change(Command command, ChangeCommand change, const std::string& address = {}) {
    const auto self = std::make_shared<ChangeCommand>(std::move(change));
    command.arguments = {required("ID", number(self->id, 0, UINT64_MAX, Kind::member), "The node")};
    if (!address.empty())
        command.arguments.push_back(required("ADDRESS", value(self->address), address));
    command.exit_codes = {
        {69,
         "no member answers, or there is no majority, or it is unknown whether the change was "
         "made: repeat the command"},
        {75, "the members cannot be changed now: try again later"},
        {77, "no permission: without TLS members are not changed from another machine"}};
    command.run = [self] { return run(*self); };
    command.access = &self->access;
    return command;
}

Command add_command() {
    return change(
        {.name = "mortise members add",
         .purpose = "Add a running node as a learner",
         .examples = {{"mortise members add 4 10.0.0.4:7401 --peer 10.0.0.1:7401",
                       "Adds node 4, which runs there with role = \"learner\" and an "
                       "empty directory."},
                      {"mortise members add 4 10.0.0.4:7401 --timeout 1m --peer "
                       "10.0.0.1:7401",
                       "Waits for a minute if another change is in progress."}}},
        {"is a member", [](auto& to, auto& self) { to.add_member(self.id, self.address); }},
        "Where it listens, HOST:PORT");
}

Command promote_command() {
    return change({.name = "mortise members promote",
                   .purpose = "Make a learner a voter",
                   .examples = {{"mortise members promote 4 --peer 10.0.0.1:7401",
                                 "Makes learner 4 a voter when it has caught up."},
                                {"mortise members promote 4 --timeout 5m --peer 10.0.0.1:7401",
                                 "Gives it five minutes for that."}}},
                  {"votes", [](auto& to, auto& self) { to.promote_member(self.id); }});
}

Command move_command() {
    return change({.name = "mortise members move",
                   .purpose = "Change the address of a member",
                   .examples = {{"mortise members move 2 10.0.0.9:7401 --peer 10.0.0.1:7401",
                                 "Tells the others that node 2 listens there now."},
                                {"mortise members move 2 127.0.0.1:7502 --peer 127.0.0.1:7401",
                                 "The same for a port on this machine."}}},
                  {"has this address now",
                   [](auto& to, auto& self) { to.move_member(self.id, self.address); }},
                  "Where it listens now, HOST:PORT");
}

Command remove_command() {
    return change({.name = "mortise members remove",
                   .purpose = "Remove a member",
                   .examples = {{"mortise members remove 3 --peer 10.0.0.1:7401",
                                 "Removes node 3; its locks expire like those of a dead process."},
                                {"mortise members remove 3 --json --peer 10.0.0.1:7401",
                                 "Prints the result as JSON."}}},
                  {"is not a member", [](auto& to, auto& self) { to.remove_member(self.id); }});
}

}  // namespace

Command members_command() {
    const auto self = std::make_shared<MembersCommand>();
    return {.name = "mortise members",
            .purpose = "List the members, or add, promote, move and remove one",
            .commands = {add_command(), promote_command(), move_command(), remove_command()},
            .examples = {{"mortise members --peer 10.0.0.1:7401",
                          "Lists the members, and how far behind the leader each of them is."},
                         {"mortise members --json --config mortise.toml",
                          "Prints the members as JSON, for a script."}},
            .run = [self] { return run(*self); },
            .access = &self->access};
}

Command transfer_leader_command() {
    return change({.name = "mortise transfer-leader",
                   .purpose = "Transfer leadership to a voter",
                   .examples = {{"mortise transfer-leader 2 --peer 10.0.0.1:7401",
                                 "Makes node 2 the leader, for example before node 1 is "
                                 "restarted."},
                                {"mortise transfer-leader 2 --timeout 30s --peer 10.0.0.1:7401",
                                 "Waits for up to half a minute until node 2 has caught up."}}},
                  {"leads", [](auto& to, auto& self) { to.transfer_leadership(self.id); }});
}

}  // namespace mortise::cli
