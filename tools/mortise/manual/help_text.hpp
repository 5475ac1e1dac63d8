#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tools/mortise/manual/command_doc.hpp"

namespace mortise::cli {

// What `mortise COMMAND --help` prints.
[[nodiscard]] std::string help_text(const CommandDoc& command);

// The words of a text in lines of at most `width` columns, each after the first with `indent`
// blanks before it.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace mortise::cli
