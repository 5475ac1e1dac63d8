#include "tools/mortise/manual/command_docs.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include "tools/mortise/manual/help_text.hpp"
#include "tools/mortise/manual/pages.hpp"

namespace mortise::cli {

namespace {

struct Argument {
    std::string name;
    Kind kind = Kind::text;
    std::vector<std::string> choices{};
};

// The parser knows only the types of the values. An option or argument that is not here is TEXT.
const std::map<std::string, Argument>& arguments() {
    static const std::map<std::string, Argument> all{
        {"--at", {"INDEX"}},
        {"--ca", {"FILE", Kind::file}},
        {"--cert", {"FILE", Kind::file}},
        {"--clients", {"NUMBER"}},
        {"--console", {"ADDRESS:PORT"}},
        {"--console-host", {"HOST"}},
        {"--config", {"FILE", Kind::file}},
        {"--days", {"DAYS"}},
        {"--dir", {"DIRECTORY", Kind::directory}},
        {"--directory", {"DIRECTORY", Kind::directory}},
        {"--from", {"POSITION"}},
        {"--grace", {"DURATION"}},
        {"--host", {"HOST"}},
        {"--keep-log", {"FILE", Kind::file}},
        {"--key", {"FILE", Kind::file}},
        {"--lock", {"NAME", Kind::lock}},
        {"--max-hold", {"DURATION"}},
        {"--may", {"RIGHT:PREFIX"}},
        {"--min-hold", {"DURATION"}},
        {"--node", {"ID"}},
        {"--peer", {"HOST:PORT"}},
        {"--role", {"ROLE", Kind::choice, {"voter", "learner", "client", "observer", "admin"}}},
        {"--seconds", {"SECONDS"}},
        {"--seed", {"NUMBER"}},
        {"--timeout", {"DURATION"}},
        {"--token", {"TOKEN"}},
        {"--ttl", {"DURATION"}},
        {"--user", {"NAME"}},
        {"--wait", {"DURATION"}},
        {"--yes-i-lose-what-others-had", {"CLUSTER"}},
        {"CMD", {"CMD", Kind::command}},
        {"DIRECTORY", {"DIRECTORY", Kind::directory}},
        {"FILE", {"FILE", Kind::file}},
        {"ID", {"ID", Kind::member}},
        {"NAME", {"NAME", Kind::lock}},
        {"PREFIX", {"PREFIX", Kind::lock}},
        {"SHELL", {"SHELL", Kind::choice, {"bash", "zsh", "fish"}}},
    };
    return all;
}

std::string full_name(const CLI::App& command) {
    const auto* parent = command.get_parent();
    return parent == nullptr ? command.get_name() : full_name(*parent) + " " + command.get_name();
}

// Short names first, as they are typed.
std::vector<std::string> names_of(const CLI::Option& option) {
    std::vector<std::string> names;
    for (const auto& name : option.get_snames())
        names.push_back("-" + name);
    for (const auto& name : option.get_lnames())
        names.push_back("--" + name);
    return names;
}

OptionDoc option_doc_of(const CLI::Option& option) {
    OptionDoc doc;
    doc.names = names_of(option);
    doc.text = option.get_description();
    doc.default_value = option.get_default_str();
    doc.is_required = option.get_required();
    doc.is_repeated = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
    if (option.get_expected_max() == 0) return doc;  // a flag
    const auto key = option.get_positional() ? option.get_name(true) : doc.names.back();
    const auto known = arguments().find(key);
    const bool is_known = known != arguments().end();
    doc.argument = is_known ? known->second.name : option.get_positional() ? key : "TEXT";
    if (!is_known) return doc;
    doc.kind = known->second.kind;
    doc.choices = known->second.choices;
    // The parser does not see it: it stands after the dashes.
    doc.is_required = doc.is_required || doc.kind == Kind::command;
    return doc;
}

// Whether the help leaves out this command or option.
template <class Described>
bool is_hidden(const Described& described) {
    return described.get_group().empty();
}

class HelpFormatter final : public CLI::FormatterBase {
public:
    std::string make_help(const CLI::App* command, std::string /*name*/,
                          CLI::AppFormatMode /*mode*/) const override {
        return help_text(doc_of(*command));
    }
};

}  // namespace

CommandDoc doc_of(const CLI::App& command) {
    CommandDoc doc;
    doc.name = full_name(command);
    doc.purpose = command.get_description();
    doc.notes = command.get_footer();
    doc.needs_command = command.get_require_subcommand_min() > 0;
    for (const auto* option :
         command.get_options([](const CLI::Option* option) { return !is_hidden(*option); }))
        (option->get_positional() ? doc.arguments : doc.options).push_back(option_doc_of(*option));
    for (const auto* below : command.get_subcommands([](const CLI::App*) { return true; }))
        if (!is_hidden(*below)) doc.commands.push_back(doc_of(*below));
    add_page(doc);
    return doc;
}

std::shared_ptr<CLI::FormatterBase> help_formatter() {
    return std::make_shared<HelpFormatter>();
}

}  // namespace mortise::cli
