// The command recover: continues from the directory of one member after the majority was lost.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "tools/mortise/commands.hpp"
#include "tools/mortise/exit_code.hpp"
#include "tools/mortise/json_form.hpp"
#include <mortise/directory_errc.hpp>
#include <mortise/dump.hpp>
#include <mortise/escaped.hpp>
#include <mortise/recover.hpp>

namespace mortise::cli {

namespace {

// Makes the only member that is left of a cluster the beginning of a new one.
struct RecoverCommand {
    std::filesystem::path directory;
    // The cluster id, as the confirmation of a script; not set: it is read from standard input.
    std::optional<std::string> confirmed;
    bool no_wait = false;  // no program can believe in a lock of the lost members any more
    bool json = false;     // only the result is on standard output, what leads to it is not
};

using std::chrono::seconds;

// The TTL that a session is assumed to have if this directory does not know the session.
constexpr Duration usual_ttl = seconds{10};
// The greatest possible timing.clock_rate_bound.
constexpr double clock_rate_bound_max = 0.1;

// A holder believes in its locks for at most its TTL after its last renewal, by its own clock.
seconds longest_belief(const DirectoryDump& dump) {
    auto longest = usual_ttl;
    for (const auto& session : dump.sessions)
        longest = std::max(longest, session.ttl);
    const std::chrono::duration<double> belief = longest.to_nanoseconds();
    return seconds{
        static_cast<std::int64_t>(std::ceil(belief.count() * (1 + clock_rate_bound_max)))};
}

std::string members_in_words(const DirectoryDump& dump) {
    std::string text;
    for (const auto& member : dump.members) {
        if (member.id == dump.node) continue;
        text += (text.empty() ? "" : ", ") + std::to_string(member.id) + " (" +
                escaped(member.address) + ')';
    }
    return text.empty() ? "none" : text;
}

// The function that recovers refuses this as well, but only after the question and the wait.
void check(const RecoverCommand& command, const DirectoryDump& dump) {
    const auto place = escaped(command.directory.string());
    if (!dump.damage.empty()) throw Failure{ExitCode::data_error, dump.damage.front()};
    if (dump.cluster_id.empty())
        throw Failure{ExitCode::usage, place + " was never part of a cluster: start its node"};
    const bool has_lost_none = std::ranges::none_of(dump.members, [&](const MemberInfo& member) {
        return member.id != dump.node && (member.role == Role::voter || member.leaving);
    });
    if (has_lost_none)
        throw Failure{ExitCode::usage, place + " is that of node " + std::to_string(dump.node) +
                                           ", the only voter of its cluster: start it"};
}

// What leads to the result.
std::ostream& talk(const RecoverCommand& command) {
    return command.json ? std::cerr : std::cout;
}

void show(const RecoverCommand& command, const DirectoryDump& dump) {
    const auto held = std::ranges::count_if(dump.locks, &LockInfo::is_held);
    talk(command)
        << escaped(command.directory.string()) << " is that of node " << dump.node
        << " of the cluster " << dump.cluster_id << ".\n"
        << "It has the log up to index " << dump.last_index << " of term " << dump.last_term << ", "
        << dump.sessions.size() << " sessions, " << dump.locks.size() << " names, of which " << held
        << " are held, and tokens up to " << dump.newest_token.to_string() << ".\n"
        << "The other members: " << members_in_words(dump) << ".\n\n"
        << "Node " << dump.node
        << " becomes the only voter of a new cluster. What only the others knew is lost, and "
           "their\ndirectories must not be used again. Make sure that none of them runs: "
           "two programs could hold\nthe same lock otherwise.\n"
        << std::flush;
}

// The whole id, or what a person would type of it.
bool is_confirmation(const std::string& typed, const std::string& cluster_id) {
    constexpr std::size_t enough = 8;
    return typed.size() >= enough && cluster_id.starts_with(typed);
}

void ask(const RecoverCommand& command, const DirectoryDump& dump) {
    talk(command) << "\nType the id of the cluster, or its first 8 digits, to continue: "
                  << std::flush;
    std::string typed;
    std::getline(std::cin, typed);
    if (is_confirmation(typed, dump.cluster_id)) return;
    throw Failure{ExitCode::usage, "not confirmed: nothing was changed"};
}

void wait_for_beliefs(const RecoverCommand& command, seconds length) {
    talk(command)
        << "Waiting " << length.count()
        << " s, until no program can believe in a lock that the others granted (--no-wait: "
           "if all have ended)."
        << std::endl;
    std::this_thread::sleep_for(length);
}

Json json_of(const RecoveredDirectory& recovered) {
    return {{"node", recovered.node},
            {"cluster_id", recovered.cluster_id},
            {"newest_token", recovered.newest_token.to_string()},
            {"copy", json_text(recovered.copy.string())}};
}

void tell(const RecoveredDirectory& recovered) {
    std::cout
        << "Node " << recovered.node << " is the only voter of the cluster " << recovered.cluster_id
        << ". Its tokens are greater than " << recovered.newest_token.to_string() << ".\n"
        << "The directory as it was: " << escaped(recovered.copy.string()) << "\n\n"
        << "1. In its configuration, list this node alone among the peers, and start it. "
           "Locks of the former\n   cluster are free when their sessions have expired.\n"
        << "2. Start other nodes with empty directories and role = \"learner\", and add them: "
           "mortise members\n   add ID ADDRESS, then mortise members promote ID.\n"
        << "3. Then list all of them among the peers of every node.\n";
}

ExitCode run(const RecoverCommand& command) {
    const auto dump = dump_directory(command.directory);
    check(command, dump);
    show(command, dump);
    if (!command.confirmed) {
        ask(command, dump);
    } else if (!is_confirmation(*command.confirmed, dump.cluster_id)) {
        throw Failure{ExitCode::usage, "--yes-i-lose-what-others-had: the cluster is " +
                                           dump.cluster_id + ": nothing was changed"};
    }
    if (!command.no_wait) wait_for_beliefs(command, longest_belief(dump));
    const auto recovered = recover_directory(command.directory, dump.cluster_id);
    if (command.json)
        print(json_of(recovered));
    else
        tell(recovered);
    return ExitCode::ok;
}

}  // namespace

Command recover_command() {
    const auto self = std::make_shared<RecoverCommand>();
    return {
        .name = "mortise recover",
        .purpose = "Continue from one directory after the majority was lost",
        .arguments = {required("DIRECTORY", value(self->directory, Kind::directory),
                               "The data_dir of a member that is left")},
        .options = {option("--yes-i-lose-what-others-had CLUSTER", value(self->confirmed),
                           "The id of its cluster, as mortise dump shows it; without it you are "
                           "asked"),
                    flag("--no-wait", self->no_wait,
                         "No program can believe in a lock any more: all have ended, or the "
                         "others have been down for longer than the TTL"),
                    flag("--json", self->json, "Print JSON")},
        .notes = "Read docs/backup.md first. It keeps a copy of the directory within it.",
        .examples = {{"mortise recover /var/lib/mortise",
                      "Makes the member with that directory a cluster of one, after asking for "
                      "the id of the cluster."},
                     {"mortise recover /var/lib/mortise --no-wait",
                      "The same if every program that held a lock has certainly ended."}},
        .exit_codes = exits(
            {0, 66, 74, 77},
            {{64,
              "the command line is invalid, it was not confirmed, or there is nothing to recover"},
             {65, "the directory is damaged, or of a later version"},
             {75, "a node that is running uses the directory"}}),
        .run = [self] { return run(*self); }};
}

}  // namespace mortise::cli
