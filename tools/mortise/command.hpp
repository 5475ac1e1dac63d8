// A command of the program, described once, in the file that carries it out: command_line.cpp reads
// the words of a command line by this description, and --help, the manual pages, the completion of
// shells and the tables of docs/cli.md are made from it. commands.hpp lists the commands.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/mortise/exit_code.hpp"

namespace mortise::cli {

// What a value is, for the completion.
enum class Kind {
    text,  // nothing is known about it
    choice,
    file,
    directory,
    existing_directory,
    command,  // a program, then its own arguments; they stand after "--"
    lock,     // the name of a lock in the cluster
    member,   // the id of a member of the cluster
};

struct Option {
    std::vector<std::string> names{};  // "--json"; empty for an argument without an option
    std::string argument{};            // "FILE"; empty for a flag
    Kind kind = Kind::text;
    std::vector<std::string> choices{};
    std::string text{};
    std::string default_value{};  // empty: none
    bool is_required = false;
    bool is_repeated = false;
    std::string alone{};     // its value if it has no argument; empty: it must have one
    std::string excludes{};  // the name of an option or argument that may not be beside it
    std::string needs{};     // the name of an option that must be
    // Keeps a value, and returns what is wrong with it. None: the parser knows what it means.
    std::function<std::string(const std::string&)> take{};

    [[nodiscard]] Option or_alone(std::string value) && {
        default_value = alone = std::move(value);
        return std::move(*this);
    }
    [[nodiscard]] Option excluding(std::string other) && {
        excludes = std::move(other);
        return std::move(*this);
    }
    [[nodiscard]] Option needing(std::string other) && {
        needs = std::move(other);
        return std::move(*this);
    }
};

struct Example {
    std::string command{};
    std::string does{};
};

using ExitCodes = std::map<int, std::string>;  // with what they mean

struct Access;

struct Command {
    std::string name{};     // "mortise members add"
    std::string purpose{};  // one sentence without its full stop
    std::vector<Option> arguments{};
    std::vector<Option> options{};
    std::vector<Command> commands{};
    std::string notes{};  // empty: those of the command above it
    std::vector<Example> examples{};
    ExitCodes exit_codes{};
    std::function<ExitCode()> run{};            // none: it does nothing without one of its commands
    Access* access = nullptr;                   // how it asks a cluster, if it does
    std::vector<std::string>* words = nullptr;  // those after "--", if it takes any
    // Accepted, and not described.
    std::vector<Option> hidden_options{};
    std::vector<Command> hidden_commands{};

    // The last word of its name.
    [[nodiscard]] std::string_view word() const {
        return std::string_view{name}.substr(name.find_last_of(' ') + 1);
    }
    // The command below it with this last word; null if there is none.
    [[nodiscard]] const Command* find(std::string_view below) const;
    // " (did you mean status?)" for a word that is neither a command below it nor one of its
    // options; empty if none is spelt like it.
    [[nodiscard]] std::string hint(std::string_view word) const;
    // What a user is told who asked for such a command.
    [[nodiscard]] Failure no_command(const std::string& below) const;
};

// The heading is what the help shows: "--json", "--config FILE", or "NAME" for an argument. The
// value is one of those below.
[[nodiscard]] Option flag(std::string name, bool& target, std::string text);
[[nodiscard]] Option option(const std::string& heading, Option value, std::string text);
[[nodiscard]] Option required(const std::string& heading, Option value, std::string text);

// A text, a path, one of them that is optional, or a list of them; command.cpp has the types. The
// help shows the default. An empty text is a value like others: a script may have forgotten to set
// a variable.
template <class Target>
[[nodiscard]] Option value(Target& target, Kind kind = Kind::text,
                           std::vector<std::string> choices = {});
template <class Number>
[[nodiscard]] Option number(Number& target, std::uint64_t min, std::uint64_t max,
                            Kind kind = Kind::text);

// These codes with their usual meanings, and those that mean something else for the command.
[[nodiscard]] ExitCodes exits(std::initializer_list<int> usual, ExitCodes own = {});

}  // namespace mortise::cli
