// Reads the documentation of the commands from the parser.
#pragma once

#include <memory>

#include "tools/mortise/manual/command_doc.hpp"

namespace CLI {
class App;
class FormatterBase;
}  // namespace CLI

namespace mortise::cli {

// Describes this command and its subcommands, without the hidden ones.
[[nodiscard]] CommandDoc doc_of(const CLI::App& command);
// Prints help as help_text.hpp does.
[[nodiscard]] std::shared_ptr<CLI::FormatterBase> help_formatter();

}  // namespace mortise::cli
