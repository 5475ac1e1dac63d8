// The program's commands as plain data: what --help, the manual pages and the completion of shells
// are made from. command_docs.cpp reads it from the parser, so it has what the program accepts;
// pages.hpp adds the examples and the exit codes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mortise::cli {

// What an argument is, for the completion.
enum class Kind {
    text,  // nothing is known about it
    choice,
    file,
    directory,
    command,  // a program, then its own arguments
    lock,     // the name of a lock in the cluster
    member,   // the id of a member of the cluster
};

struct OptionDoc {
    std::vector<std::string> names{};  // "--json"; empty for an argument without an option
    std::string argument{};            // "FILE"; empty for a flag
    Kind kind = Kind::text;
    std::vector<std::string> choices{};
    std::string text{};
    std::string default_value{};  // empty: none
    bool is_required = false;
    bool is_repeated = false;
};

struct ExampleDoc {
    std::string command{};
    std::string does{};
};

struct ExitDoc {
    int code = 0;
    std::string means{};
};

struct CommandDoc {
    std::string name{};     // "mortise members add"
    std::string purpose{};  // one sentence without its full stop
    std::vector<OptionDoc> arguments{};
    std::vector<OptionDoc> options{};
    std::vector<CommandDoc> commands{};
    bool needs_command = false;  // it does nothing without one of those
    std::string notes{};
    std::vector<ExampleDoc> examples{};
    std::vector<ExitDoc> exit_codes{};

    // The last word of its name.
    [[nodiscard]] std::string_view word() const {
        return std::string_view{name}.substr(name.find_last_of(' ') + 1);
    }
};

// "mortise members add [OPTIONS] ID ADDRESS"
[[nodiscard]] std::string usage_of(const CommandDoc& command);
// "--peer HOST:PORT"
[[nodiscard]] std::string heading_of(const OptionDoc& option);
// Its text, with "may be repeated" and the default.
[[nodiscard]] std::string description_of(const OptionDoc& option);
// How a duration is written, if the command takes one; empty otherwise.
[[nodiscard]] std::string note_on_durations(const CommandDoc& command);

}  // namespace mortise::cli
