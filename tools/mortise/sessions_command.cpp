// The command sessions: which processes may hold locks.
#include <chrono>
#include <iostream>
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

}  // namespace

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

}  // namespace mortise::cli
