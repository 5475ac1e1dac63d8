#pragma once

#include <string>
#include <string_view>

#include "tools/mortise/command.hpp"

namespace mortise::cli {

// The manual page of a command in the language of man(7). Commands below it are sections of the
// page of a top command, and have pages of their own below the program itself.
[[nodiscard]] std::string man_page(const Command& command, std::string_view version);

// "mortise-members"
[[nodiscard]] std::string page_name(const Command& command);

}  // namespace mortise::cli
