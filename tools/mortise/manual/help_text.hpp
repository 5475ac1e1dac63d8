#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tools/mortise/command.hpp"

namespace mortise::cli {

// What `mortise COMMAND --help` prints.
[[nodiscard]] std::string help_text(const Command& command);

// "mortise members add [OPTIONS] ID ADDRESS"
[[nodiscard]] std::string usage_of(const Command& command);
// "--peer HOST:PORT"
[[nodiscard]] std::string heading_of(const Option& option);
// Its text, with "may be repeated" and the default.
[[nodiscard]] std::string description_of(const Option& option);
// How a duration is written, if the command takes one; empty otherwise.
[[nodiscard]] std::string note_on_durations(const Command& command);

// The words of a text in lines of at most `width` columns, each after the first with `indent`
// blanks before it.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace mortise::cli
