// The commands sessions and evict: which processes may hold locks, and the end of that.
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "tools/mortise/access.hpp"
#include "tools/mortise/commands.hpp"
#include "tools/mortise/json_form.hpp"
#include "tools/mortise/lock_text.hpp"
#include "tools/mortise/short_time.hpp"
#include "tools/mortise/table.hpp"
#include "tools/mortise/terminal.hpp"
#include <mortise/errc.hpp>
#include <mortise/escaped.hpp>
#include <mortise/lock_error.hpp>
#include <mortise/remote.hpp>

namespace mortise::cli {

namespace {

struct SessionsCommand {
    Access access;
    bool local = false;
};

std::vector<std::string> row_of(const SessionInfo& session) {
    return {std::to_string(session.id),    id_text(session.node),
            age_text(session.age),         age_text(session.lease_left),
            short_time(session.ttl),       std::to_string(session.holds),
            std::to_string(session.waits), from_text(session.origin, Addresses::shown),
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
    Table table{{"SESSION", "NODE", "FOR", "LEFT", "TTL", "HOLDS", "WAITS", "FROM", "LABEL"}};
    for (const auto& session : sessions)
        table.add(row_of(session));
    std::cout << table.text(is_terminal());
    return ExitCode::ok;
}

struct EvictCommand {
    Access access{.timeout = "15s"};
    std::uint64_t session = 0;
    std::string reason;
    bool immediate = false;
};

ExitCode run(const EvictCommand& command) {
    const auto session = "session " + std::to_string(command.session);
    const auto mode = command.immediate ? BreakMode::immediate : BreakMode::confirmed;
    try {
        answer_of(command.access, [&](Remote& remote) {
            remote.evict(command.session, command.reason, mode);
            return true;
        });
    } catch (const LockError& error) {
        if (error.code() == Errc::not_held)
            throw Failure{ExitCode::failed,
                          "there is no " + session + "; mortise sessions lists them"};
        if (error.code() == Errc::resource_exhausted)
            throw Failure{ExitCode::taken,
                          session + ": not until every member is of a version that evicts"};
        throw;
    }
    if (command.access.json)
        print({{"session", std::to_string(command.session)}, {"done", "evicted"}});
    else
        std::cout << session
                  << (command.immediate ? " has ended\n"
                                        : " ends now, or with its lease if its node is silent\n");
    return ExitCode::ok;
}

}  // namespace

Command evict_command() {
    const auto self = std::make_shared<EvictCommand>();
    return {
        .name = "mortise evict",
        .purpose = "Take a session out, with all that it holds and waits for",
        .arguments = {required("SESSION", number(self->session, 1, UINT64_MAX),
                               "The session, as mortise sessions and inspect show it")},
        .options = {required("--reason TEXT", value(self->reason), "Shown in logs"),
                    flag("--immediate", self->immediate,
                         "Do not wait for the end of its lease: two may hold a lock for a while")},
        .examples = {{"mortise evict 4711 --reason 'host is dead' --peer 10.0.0.1:7401",
                      "Takes that session out: its locks are free when its node has heard of it, "
                      "or when its lease has ended."},
                     {"mortise evict 4711 --reason 'host is dead' --immediate --peer "
                      "10.0.0.1:7401",
                      "The same at once, for a host that is known to be off."}},
        .exit_codes = {{1, "there is no such session"},
                       {69,
                        "no member answers, or there is no majority, or it is unknown whether the "
                        "session was evicted"},
                       {75, "a member is of a version that does not know this"}},
        .run = [self] { return run(*self); },
        .access = &self->access};
}

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
