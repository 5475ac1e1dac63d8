#include "tools/mortise/command_line.hpp"

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "tools/mortise/commands.hpp"
#include "tools/mortise/manual/help_text.hpp"
#include "tools/mortise/say.hpp"
#include "tools/mortise/terminal.hpp"

namespace mortise::cli {

namespace {

std::string name_of(const Option& option) {
    return option.names.empty() ? option.argument : option.names.front();
}

void add_option(CLI::App& app, const Option& option) {
    const auto name = name_of(option);
    if (option.argument.empty()) {
        app.add_flag_callback(name, [&option] { option.take({}); });
        return;
    }
    auto* added = app.add_option(name, [&option, name](const CLI::results_t& words) {
        for (const auto& word : words) {
            const auto problem = option.take(word);
            if (!problem.empty()) throw CLI::ValidationError{name, problem};
        }
        return true;
    });
    added->type_name(option.argument);
    // The parser does not see the words of another command.
    added->required(option.is_required && option.kind != Kind::command);
    if (option.is_repeated)
        added->expected(1, -1)->take_all()->allow_extra_args(option.names.empty());
    if (option.kind == Kind::existing_directory) added->check(CLI::ExistingDirectory);
    if (!option.alone.empty()) added->expected(0, 1)->default_str(option.alone);
}

void add_relations(CLI::App& app, const Option& option) {
    if (!option.excludes.empty())
        app.get_option(name_of(option))->excludes(app.get_option(option.excludes));
    if (!option.needs.empty()) app.get_option(name_of(option))->needs(app.get_option(option.needs));
}

void describe(CLI::App& app, const Command& command) {
    const auto lists = {&command.arguments, &command.options, &command.hidden_options};
    for (const auto* list : lists)
        for (const auto& option : *list)
            if (option.take) add_option(app, option);
    for (const auto* list : lists)
        for (const auto& option : *list)
            add_relations(app, option);
    for (const auto* list : {&command.commands, &command.hidden_commands})
        for (const auto& below : *list)
            describe(*app.add_subcommand(std::string{below.word()}), below);
    if (!command.commands.empty()) app.require_subcommand(command.run ? 0 : 1, 1);
}

// The command that the words name, as far as it was recognized.
const Command& chosen(const CLI::App& app, const Command& command) {
    const auto below = app.get_subcommands();
    if (below.empty()) return command;
    return chosen(*below.front(), *command.find(below.front()->get_name()));
}

// The words of another command line stand after "--", for the commands that have one. The parser
// would change some of them.
int take_words_after_dashes(const Command& command, int argc, char** argv) {
    const auto dashes = std::find(argv, argv + argc, std::string_view{"--"});
    if (command.words == nullptr || dashes == argv + argc) return argc;
    command.words->assign(dashes + 1, argv + argc);
    return static_cast<int>(dashes - argv);
}

}  // namespace

const Command* read_command_line(const Command& program, int argc, char** argv) {
    const std::string first = argc > 1 ? argv[1] : "-";
    const auto* const named = program.find(first);
    // Without this check the parser would ask for a command as if none had been given.
    if (named == nullptr && !first.starts_with('-')) throw program.no_command(first);
    if (named != nullptr) argc = take_words_after_dashes(*named, argc, argv);
    CLI::App app{"", program.name};
    app.set_help_flag("-h,--help", "");
    app.set_version_flag("-V,--version", "");
    describe(app, program);
    const auto fail = [&](const std::string& problem) -> Failure {
        return {ExitCode::usage, problem + "; see " + chosen(app, program).name + " --help"};
    };
    // The parser's own message lists them in reverse order.
    const auto unexpected = [&](const std::string& hint) {
        return fail("not expected here: " + CLI::detail::join(app.remaining(true), " ") + hint);
    };
    const auto hint = [&] {
        const auto extra = app.remaining(true);
        return extra.empty() ? "" : chosen(app, program).hint(extra.front());
    };
    try {
        app.parse(argc, argv);
        return &chosen(app, program);
    } catch (const CLI::CallForHelp&) {
        std::cout << help_text(chosen(app, program));
    } catch (const CLI::CallForVersion&) {
        std::cout << "mortise " MORTISE_VERSION "\n";
    } catch (const CLI::ExtrasError&) {
        throw unexpected(hint());
    } catch (const CLI::RequiredError& error) {  // the missing word may be there, misspelt
        throw hint().empty() ? fail(error.what()) : unexpected(hint());
    } catch (const CLI::ParseError& error) {
        throw fail(error.what());
    }
    return nullptr;
}

int run_command_line(int argc, char** argv) {
    try {
        const auto all = program();
        const auto* const command = read_command_line(all, argc, argv);
        const auto code = command != nullptr ? command->run() : ExitCode::ok;
        std::cout.flush();
        if (std::cout) return static_cast<int>(code);
        if (output_has_no_reader()) return static_cast<int>(ExitCode::reader_gone);
        throw Failure{ExitCode::io_error, "cannot write to standard output"};
    } catch (const std::exception& error) {
        say(line_of(error), LogLevel::error);
        return static_cast<int>(exit_code_of(error));
    }
}

}  // namespace mortise::cli
