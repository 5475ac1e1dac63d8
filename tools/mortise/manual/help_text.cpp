#include "tools/mortise/manual/help_text.hpp"

#include <algorithm>

namespace mortise::cli {

namespace {

constexpr std::size_t columns = 80;
constexpr std::size_t indent = 2;
constexpr std::size_t text_column = 26;

// A heading, and its text in the second column; below it if the heading is long.
std::string entry(const std::string& heading, const std::string& text) {
    std::string line = std::string(indent, ' ') + heading;
    if (text.empty()) return line + "\n";
    if (line.size() + 2 > text_column)
        line += "\n" + std::string(text_column, ' ');
    else
        line += std::string(text_column - line.size(), ' ');
    return line + wrapped(text, columns - text_column, text_column) + "\n";
}

std::string section(const std::string& title, const std::string& text) {
    return text.empty() ? "" : "\n" + title + ":\n" + text;
}

std::string entries(const std::vector<Option>& options) {
    std::string text;
    for (const auto& option : options)
        text += entry(heading_of(option), description_of(option));
    return text;
}

std::string commands_text(const Command& command) {
    std::string text;
    for (const auto& below : command.commands)
        text += entry(std::string{below.word()}, below.purpose);
    return text;
}

std::string examples_text(const Command& command) {
    std::string text;
    for (const auto& example : command.examples)
        text += "  " + example.command + "\n      " + wrapped(example.does, columns - 6, 6) + "\n";
    return text;
}

std::string exit_text(const Command& command) {
    std::string text;
    constexpr std::size_t column = 8;
    for (const auto& [code, means] : command.exit_codes) {
        auto line = std::string(indent, ' ') + std::to_string(code);
        line += std::string(column - std::min(line.size(), column - 1), ' ');
        text += line + wrapped(means, columns - column, column) + "\n";
    }
    return text;
}

std::string paragraph(const std::string& text) {
    return text.empty() ? "" : "\n" + wrapped(text, columns, 0) + "\n";
}

}  // namespace

std::string usage_of(const Command& command) {
    std::string text = command.name;
    if (!command.options.empty()) text += " [OPTIONS]";
    for (const auto& option : command.options) {
        if (option.is_required) text += " " + heading_of(option);
    }
    if (!command.commands.empty()) text += !command.run ? " COMMAND" : " [COMMAND]";
    for (const auto& argument : command.arguments) {
        const auto word = argument.argument + (argument.is_repeated ? "..." : "");
        if (argument.kind == Kind::command) text += " --";
        text += argument.is_required ? " " + word : " [" + word + "]";
    }
    return text;
}

std::string heading_of(const Option& option) {
    std::string text;
    for (const auto& name : option.names)
        text += (text.empty() ? "" : ", ") + name;
    if (option.argument.empty()) return text;
    return text.empty() ? option.argument : text + " " + option.argument;
}

std::string description_of(const Option& option) {
    auto text = option.text;
    std::string choices;
    for (const auto& one : option.choices)
        choices += (choices.empty() ? "" : ", ") + one;
    if (!choices.empty()) text += ": " + choices;
    const bool is_told = text.find("may be repeated") != std::string::npos;
    if (option.is_repeated && !option.names.empty() && !is_told) text += "; may be repeated";
    if (option.is_required && !option.names.empty()) text += "; required";
    if (!option.default_value.empty()) text += " (default: " + option.default_value + ")";
    return text;
}

std::string note_on_durations(const Command& command) {
    const auto takes = [](const Option& option) { return option.argument == "DURATION"; };
    if (std::ranges::none_of(command.options, takes)) return {};
    return "A DURATION is a number with a unit: 250ms, 10s, 1.5h. The units are ns, us, ms, s, m "
           "and h.";
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent_by) {
    std::string lines;
    std::size_t column = 0;
    while (!text.empty()) {
        const auto end = std::min(text.find(' '), text.size());
        const auto word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (word.empty()) continue;
        if (column > 0 && column + 1 + word.size() > width) {
            lines += "\n" + std::string(indent_by, ' ');
            column = 0;
        }
        if (column > 0) {
            lines += ' ';
            ++column;
        }
        lines += word;
        column += word.size();
    }
    return lines;
}

std::string help_text(const Command& command) {
    return wrapped(command.purpose + ".", columns, 0) +
           "\n\nUsage: " + wrapped(usage_of(command), columns - 7, 7) + "\n" +
           section("Arguments", entries(command.arguments)) +
           section("Options", entries(command.options)) +
           section("Commands", commands_text(command)) + paragraph(note_on_durations(command)) +
           paragraph(command.notes) + section("Examples", examples_text(command)) +
           section("Exit codes", exit_text(command));
}

}  // namespace mortise::cli
