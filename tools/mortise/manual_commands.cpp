// The commands completion, complete and man, which describe the others.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "tools/mortise/access.hpp"
#include "tools/mortise/commands.hpp"
#include "tools/mortise/manual/complete.hpp"
#include "tools/mortise/manual/completion_scripts.hpp"
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
        if (name == "--peer") access.peers.push_back(value);
        if (name == "--config") access.config = value;
        if (name == "--cert") access.tls.certificate = value;
        if (name == "--key") access.tls.key = value;
        if (name == "--ca") access.tls.ca = value;
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
        case Kind::directory: return ":directory";
        case Kind::command: return ":command";
        case Kind::text:
        case Kind::choice:
        case Kind::lock:
        case Kind::member: break;
    }
    return ":";
}

const CommandDoc& find_page(const CommandDoc& program, const std::string& word) {
    if (word.empty() || word == program.name) return program;
    const auto found = std::ranges::find(program.commands, word, &CommandDoc::word);
    if (found == program.commands.end())
        throw Failure{ExitCode::usage, "no command '" + word + "'; see mortise --help"};
    return *found;
}

void write_page(const CommandDoc& command, const std::filesystem::path& directory) {
    const auto path = directory / (page_name(command) + ".1");
    std::ofstream file{path, std::ios::binary | std::ios::trunc};
    file << man_page(command, MORTISE_VERSION);
    file.close();
    if (!file) throw Failure{ExitCode::io_error, "cannot write " + path.string()};
}

}  // namespace

ExitCode run(const CompletionCommand& command) {
    std::cout << completion_script(command.shell);
    return ExitCode::ok;
}

ExitCode run(const CompleteCommand& command, const CommandDoc& program) {
    const auto completion = complete(program, command.words);
    for (const auto& [word, text] : completion.words)
        std::cout << word << (text.empty() ? "" : "\t") << text << '\n';
    print_live(completion);
    std::cout << what_else(completion.more) << '\n';
    return ExitCode::ok;
}

ExitCode run(const ManCommand& command, const CommandDoc& program) {
    if (!command.directory) {
        std::cout << man_page(find_page(program, command.command), MORTISE_VERSION);
        return ExitCode::ok;
    }
    write_page(program, *command.directory);
    for (const auto& below : program.commands)
        write_page(below, *command.directory);
    return ExitCode::ok;
}

}  // namespace mortise::cli
