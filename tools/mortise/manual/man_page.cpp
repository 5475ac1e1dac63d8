#include "tools/mortise/manual/man_page.hpp"

#include <algorithm>
#include <cctype>

#include "tools/mortise/manual/help_text.hpp"

namespace mortise::cli {

namespace {

// A backslash would begin an escape, and "-" would become a hyphen, which cannot be searched for or
// copied as an option.
std::string in_roff(std::string_view text) {
    std::string made;
    for (const char each : text) {
        switch (each) {
            case '\\': made += "\\e"; break;
            case '-': made += "\\-"; break;
            case '\'': made += "\\(aq"; break;
            case '`': made += "\\(ga"; break;
            case '~': made += "\\(ti"; break;
            case '^': made += "\\(ha"; break;
            default: made += each;
        }
    }
    return made;
}

// A line of text; a "." at its beginning would make it a request.
std::string line(std::string_view text) {
    const auto made = in_roff(text);
    return (made.starts_with('.') ? "\\&" : "") + made + "\n";
}

std::string bold(std::string_view text) {
    return "\\fB" + in_roff(text) + "\\fR";
}

std::string italic(std::string_view text) {
    return "\\fI" + in_roff(text) + "\\fR";
}

std::string entry(const std::string& heading, std::string_view text) {
    return ".TP\n" + heading + "\n" + (text.empty() ? "\\&\n" : line(text));
}

std::string heading(const Option& option) {
    std::string text;
    for (const auto& name : option.names)
        text += (text.empty() ? "" : ", ") + bold(name);
    if (option.argument.empty()) return text;
    return text + (text.empty() ? "" : " ") + italic(option.argument);
}

std::string entries(const std::vector<Option>& options) {
    std::string text;
    for (const auto& option : options)
        text += entry(heading(option), description_of(option));
    return text;
}

std::string examples_of(const Command& command) {
    std::string text;
    for (const auto& example : command.examples)
        text += ".TP\n" + bold(example.command) + "\n" + line(example.does);
    return text;
}

std::string exit_codes_of(const Command& command) {
    std::string text;
    for (const auto& [code, means] : command.exit_codes)
        text += entry(bold(std::to_string(code)), means);
    return text;
}

std::string section(const std::string& title, const std::string& text) {
    return text.empty() ? "" : ".SH " + title + "\n" + text;
}

std::string part(const std::string& title, const std::string& text) {
    return text.empty() ? "" : ".PP\n" + title + "\n" + text;
}

// A command below a top command, as a part of its page.
std::string below_text(const Command& command) {
    return ".SS " + in_roff(usage_of(command)) + "\n" + line(command.purpose + ".") +
           entries(command.arguments) + entries(command.options) +
           part("Examples:", examples_of(command)) + part("Exit codes:", exit_codes_of(command));
}

std::string commands_text(const Command& command) {
    std::string text;
    const bool is_program = command.name.find(' ') == std::string::npos;
    for (const auto& below : command.commands)
        text +=
            is_program ? entry(bold(page_name(below)) + "(1)", below.purpose) : below_text(below);
    return text;
}

std::string notes_of(const Command& command) {
    std::string text;
    for (const auto& note : {command.notes, note_on_durations(command)}) {
        if (note.empty()) continue;
        text += (text.empty() ? "" : ".PP\n") + line(note);
    }
    return text;
}

std::string in_capitals(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char each) {
        return static_cast<char>(std::toupper(each));
    });
    return text;
}

std::string see_also(const Command& command) {
    return command.name.find(' ') == std::string::npos ? "" : bold("mortise") + "(1)\n";
}

}  // namespace

std::string page_name(const Command& command) {
    auto name = command.name;
    std::ranges::replace(name, ' ', '-');
    return name;
}

std::string man_page(const Command& command, std::string_view version) {
    const auto name = page_name(command);
    return ".TH " + in_roff(in_capitals(name)) + " 1 \"\" \"mortise " + in_roff(version) +
           "\" \"Mortise\"\n" + section("NAME", in_roff(name) + " \\- " + line(command.purpose)) +
           section("SYNOPSIS", ".nf\n" + bold(usage_of(command)) + "\n.fi\n") +
           section("DESCRIPTION", line(command.purpose + ".")) +
           section("ARGUMENTS", entries(command.arguments)) +
           section("OPTIONS", entries(command.options)) +
           section("COMMANDS", commands_text(command)) + section("NOTES", notes_of(command)) +
           section("EXAMPLES", examples_of(command)) +
           section("EXIT STATUS", exit_codes_of(command)) + section("SEE ALSO", see_also(command));
}

}  // namespace mortise::cli
