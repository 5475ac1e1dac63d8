#include "tools/mortise/manual/command_doc.hpp"

#include <algorithm>

namespace mortise::cli {

std::string usage_of(const CommandDoc& command) {
    std::string text = command.name;
    if (!command.options.empty()) text += " [OPTIONS]";
    for (const auto& option : command.options) {
        if (option.is_required) text += " " + heading_of(option);
    }
    if (!command.commands.empty()) text += command.needs_command ? " COMMAND" : " [COMMAND]";
    for (const auto& argument : command.arguments) {
        const auto word = argument.argument + (argument.is_repeated ? "..." : "");
        if (argument.kind == Kind::command) text += " --";
        text += argument.is_required ? " " + word : " [" + word + "]";
    }
    return text;
}

std::string heading_of(const OptionDoc& option) {
    std::string text;
    for (const auto& name : option.names)
        text += (text.empty() ? "" : ", ") + name;
    if (option.argument.empty()) return text;
    return text.empty() ? option.argument : text + " " + option.argument;
}

std::string description_of(const OptionDoc& option) {
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

std::string note_on_durations(const CommandDoc& command) {
    const auto takes = [](const OptionDoc& option) { return option.argument == "DURATION"; };
    if (std::ranges::none_of(command.options, takes)) return {};
    return "A DURATION is a number with a unit: 250ms, 10s, 1.5h. The units are ns, us, ms, s, m "
           "and h.";
}

}  // namespace mortise::cli
