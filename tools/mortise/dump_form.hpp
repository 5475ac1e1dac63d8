// How a dump of a data directory is shown.
#pragma once

#include <string>

#include "tools/mortise/json_form.hpp"
#include <mortise/dump.hpp>

namespace mortise::cli {

[[nodiscard]] Json json_of(const DirectoryDump& dump);
// For a person; with the entries of the log, of which there may be none, if it is to have them.
[[nodiscard]] std::string text_of(const DirectoryDump& dump, bool with_entries, bool bold);

}  // namespace mortise::cli
