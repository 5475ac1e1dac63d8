// Shows the changes of locks to a person, a line for each.
#pragma once

#include <string>

#include <mortise/observe.hpp>

namespace mortise::cli {

// The titles of the columns; `bold` marks them for a terminal.
[[nodiscard]] std::string event_titles(bool bold);
[[nodiscard]] std::string text_of(const Event& event);

}  // namespace mortise::cli
