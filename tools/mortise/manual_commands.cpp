// The commands completion, complete and man, which describe the others.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "tools/mortise/access.hpp"
#include "tools/mortise/commands.hpp"
#include "tools/mortise/manual/complete.hpp"
#include "tools/mortise/manual/completion_scripts.hpp"
#include "tools/mortise/manual/help_text.hpp"
#include "tools/mortise/manual/man_page.hpp"
#include <mortise/escaped.hpp>
#include <mortise/remote.hpp>

namespace mortise::cli {

namespace {

// Somebody waits at a prompt.
constexpr std::string_view live_timeout = "700ms";
constexpr std::size_t live_names_max = 200;

// Other names would have to be quoted.
bool is_plain(std::string_view name) {
    return name.find_first_not_of(
               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
               "._/:@%+,-") == std::string_view::npos;
}

// Reaches the cluster with the options that were typed already.
Access access_of(const Completion& completion) {
    Access access{.timeout = std::string{live_timeout}, .json = false};
    for (const auto& [name, value] : completion.options) {
        for (const auto& option : with_members(access, {}))
            if (option.names.front() == name && name != "--timeout") option.take(value);
    }
    return access;
}

void print_locks(Remote& remote, const Completion& completion) {
    for (const auto& lock : remote.list(completion.typed, {}, live_names_max, ReadLevel::local)) {
        if (is_plain(lock.name)) std::cout << completion.prefix << lock.name << '\n';
    }
}

void print_members(Remote& remote, const Completion& completion) {
    for (const auto& report : remote.status()) {
        if (report.error) continue;
        for (const auto& member : report.status.members) {
            const auto id = std::to_string(member.id);
            if (id.starts_with(completion.typed))
                std::cout << completion.prefix << id << '\t' << escaped(member.address) << '\n';
        }
        return;
    }
}

// Whatever cannot be learned is left out: a prompt is no place for messages.
void print_live(const Completion& completion) {
    if (completion.more != Kind::lock && completion.more != Kind::member) return;
    try {
        auto remote = remote_of(access_of(completion));
        if (completion.more == Kind::lock) return print_locks(remote, completion);
        print_members(remote, completion);
    } catch (const std::exception&) {
    }
}

std::string_view what_else(Kind kind) {
    switch (kind) {
        case Kind::file: return ":file";
        case Kind::existing_directory:
        case Kind::directory: return ":directory";
        case Kind::command: return ":command";
        case Kind::text:
        case Kind::choice:
        case Kind::lock:
        case Kind::member: break;
    }
    return ":";
}

void write_page(const Command& command, const std::filesystem::path& directory) {
    const auto path = directory / (page_name(command) + ".1");
    std::ofstream file{path, std::ios::binary | std::ios::trunc};
    file << man_page(command, MORTISE_VERSION);
    file.close();
    if (!file) throw Failure{ExitCode::io_error, "cannot write " + path.string()};
}

ExitCode complete_words(const std::vector<std::string>& words) {
    const auto completion = complete(program(), words);
    for (const auto& [word, text] : completion.words)
        std::cout << word << (text.empty() ? "" : "\t") << text << '\n';
    print_live(completion);
    std::cout << what_else(completion.more) << '\n';
    return ExitCode::ok;
}

struct ManCommand {
    std::string command;                             // empty: the program itself
    std::optional<std::filesystem::path> directory;  // all pages are written there
};

// The command of that name; the program itself if it is empty. Throws Failure.
const Command& described(const Command& all, const std::string& name) {
    const bool is_program = name.empty() || name == all.name;
    const auto* const command = is_program ? &all : all.find(name);
    if (command == nullptr || command->purpose.empty()) throw all.no_command(name);
    return *command;
}

ExitCode run(const ManCommand& command) {
    const auto all = program();
    if (!command.directory) {
        std::cout << man_page(described(all, command.command), MORTISE_VERSION);
        return ExitCode::ok;
    }
    std::error_code failed;  // the pages say that they cannot be written
    std::filesystem::create_directories(*command.directory, failed);
    write_page(all, *command.directory);
    for (const auto& below : all.commands)
        write_page(below, *command.directory);
    return ExitCode::ok;
}

}  // namespace

// Prints the script that a shell reads.
Command completion_command() {
    const auto shell = std::make_shared<std::string>();
    const auto run = [shell] {
        const auto script = completion_script(*shell);
        if (script.empty())
            throw Failure{ExitCode::usage, "SHELL: " + *shell +
                                               " not in {bash,zsh,fish}; see mortise completion "
                                               "--help"};
        std::cout << script;
        return ExitCode::ok;
    };
    return {.name = "mortise completion",
            .purpose = "Print a script that completes command lines in a shell",
            .arguments = {required("SHELL", value(*shell, Kind::choice, {"bash", "zsh", "fish"}),
                                   "The shell")},
            .notes =
                "It also completes the names of locks and the ids of members, if a member "
                "answers at once.",
            .examples = {{"source <(mortise completion bash)",
                          "Completes commands, options, locks and members in this shell."},
                         {"mortise completion fish > ~/.config/fish/completions/mortise.fish",
                          "Does so in every new fish."}},
            .exit_codes = exits({0, 64, 74, 141}),
            .run = run};
}

// Completes a command line for these scripts; never typed by a person. The last word is incomplete.
Command complete_command() {
    const auto words = std::make_shared<std::vector<std::string>>();
    return {.name = "mortise complete",
            .run = [words] { return complete_words(*words); },
            .words = words.get()};
}

Command help_command() {
    const auto name = std::make_shared<std::string>();
    return {.name = "mortise help",
            .purpose = "Print the help of a command, as --help does",
            .arguments = {option("COMMAND", value(*name),
                                 "The command; without it, the program itself")},
            .examples = {{"mortise help", "Lists the commands."},
                         {"mortise help run", "Prints what `mortise run --help` prints."}},
            .exit_codes = exits({0, 64, 74, 141}),
            .run = [name] {
                const auto all = program();
                std::cout << help_text(described(all, *name));
                return ExitCode::ok;
            }};
}

Command version_command() {
    return {.name = "mortise version",
            .purpose = "Print the version, as --version does",
            .examples = {{"mortise version", "Prints \"mortise\" and three numbers."},
                         {"mortise version | cut -d' ' -f2", "Prints the numbers."}},
            .exit_codes = exits({0, 64, 74, 141}),
            .run = [] {
                std::cout << "mortise " MORTISE_VERSION "\n";
                return ExitCode::ok;
            }};
}

Command man_command() {
    const auto self = std::make_shared<ManCommand>();
    return {
        .name = "mortise man",
        .purpose = "Print the manual page of a command",
        .arguments = {option("COMMAND", value(self->command),
                             "The command; without it, the program itself")},
        .options = {option("--directory DIRECTORY", value(self->directory, Kind::directory),
                           "Write all pages into this directory, which is made if it is missing")
                        .excluding("COMMAND")},
        .examples = {{"mortise man run | man -l -", "Shows the manual page of `mortise run`."},
                     {"mortise man --directory /usr/local/share/man/man1",
                      "Writes all pages there: mortise.1, mortise-run.1 and so on."}},
        .exit_codes = exits({0, 64, 141}, {{74, "a page cannot be written"}}),
        .run = [self] { return run(*self); }};
}

}  // namespace mortise::cli
