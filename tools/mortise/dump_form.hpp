// The output of a dump of a data directory.
#pragma once

#include <string>

#include "tools/mortise/json_form.hpp"
#include <mortise/dump.hpp>

namespace mortise::cli {

[[nodiscard]] Json json_of(const DirectoryDump& dump);
// The text for a person. With `with_entries` it has the entries of the log, of which there may be
// none.
[[nodiscard]] std::string text_of(const DirectoryDump& dump, bool with_entries, bool bold);

}  // namespace mortise::cli
