// The command sessions: which processes may hold locks.
#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "tools/mortise/access.hpp"
#include "tools/mortise/commands.hpp"
#include "tools/mortise/json_form.hpp"
#include "tools/mortise/lock_text.hpp"
#include "tools/mortise/table.hpp"
#include "tools/mortise/terminal.hpp"
#include <mortise/escaped.hpp>
#include <mortise/remote.hpp>

namespace mortise::cli {

namespace {

struct SessionsCommand {
    Access access;
    bool local = false;
};

std::vector<std::string> row_of(const SessionInfo& session) {
    return {std::to_string(session.id),
            id_text(session.node),
            short_time(session.age),
            session.lease_left.is_set() ? short_time(session.lease_left) : "-",
            short_time(session.ttl),
            std::to_string(session.holds),
            std::to_string(session.waits),
            escaped(session.label)};
}

ExitCode run(const SessionsCommand& command) {
    const auto level = command.local ? ReadLevel::local : ReadLevel::linearizable;
    const auto sessions =
        answer_of(command.access, [&](Remote& remote) { return remote.sessions(level); });
    if (command.access.json) {
        print(json_list(sessions));
        return ExitCode::ok;
    }
    Table table{{"SESSION", "NODE", "AGE", "LEFT", "TTL", "HOLDS", "WAITS", "LABEL"}};
    for (const auto& session : sessions)
        table.add(row_of(session));
    std::cout << table.text(is_terminal());
    return ExitCode::ok;
}

}  // namespace

Command sessions_command() {
    const auto self = std::make_shared<SessionsCommand>();
    return {.name = "mortise sessions",
            .purpose = "List the sessions: which processes may hold locks",
            .options = {local_flag(self->local)},
            .examples = {{"mortise sessions --peer 10.0.0.1:7401",
                          "Lists the processes that may hold locks, and how long each is still "
                          "waited for."},
                         {"mortise sessions --json --peer 10.0.0.1:7401", "Prints them as JSON."}},
            .run = [self] { return run(*self); },
            .access = &self->access};
}

}  // namespace mortise::cli
