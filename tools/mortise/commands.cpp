#include "tools/mortise/commands.hpp"

#include "tools/mortise/access.hpp"

namespace mortise::cli {

namespace {

// Adds what commands have in common.
void complete_description(Command& command) {
    if (command.access != nullptr) add_access(command, *command.access);
    command.options.insert(
        command.options.begin(),
        {.names = {"-h", "--help"}, .text = "Print this page, or that of a command"});
    for (auto* list : {&command.commands, &command.hidden_commands}) {
        for (auto& below : *list) {
            if (below.notes.empty()) below.notes = command.notes;
            complete_description(below);
        }
    }
}

}  // namespace

Command program() {
    Command all{
        .name = "mortise",
        .purpose = "Mortise: locks for a cluster of processes",
        .commands = {node_command(),
                     doctor_command(),
                     status_command(),
                     members_command(),
                     transfer_leader_command(),
                     locks_command(),
                     inspect_command(),
                     watch_command(),
                     sessions_command(),
                     top_command(),
                     break_command(),
                     evict_command(),
                     run_command(),
                     lock_command(),
                     cert_command(),
                     dump_command(),
                     recover_command(),
                     dev_command(),
                     demo_command(),
                     bench_command(),
                     completion_command(),
                     man_command(),
                     help_command(),
                     version_command()},
        .notes = "`mortise COMMAND --help` describes a command and its exit codes.",
        .examples = {{"mortise dev", "Runs a cluster of three on this machine to try things out."},
                     {"mortise demo", "Shows on this machine what it is about, in half a minute."},
                     {"mortise run --lock jobs/nightly --wait 0s --peer 10.0.0.1:7401 -- "
                      "./nightly.sh",
                      "Runs a job on one machine of the cluster at a time."}},
        .exit_codes = exits({0, 64, 70}),
        .hidden_commands = {complete_command(), member_command()}};
    complete_description(all);
    all.options.insert(
        all.options.begin(),
        {.names = {"-V", "--version"}, .text = "Display program version information and exit"});
    return all;
}

}  // namespace mortise::cli
