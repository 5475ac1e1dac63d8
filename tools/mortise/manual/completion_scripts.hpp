#pragma once

#include <string>
#include <string_view>

namespace mortise::cli {

// What a shell has to read for it to complete the words of this program: a function that asks
// `mortise complete -- WORDS...`. Empty for a shell other than bash, zsh and fish.
//
// The answer has a line for each candidate, which may have a tabulator and a description, and ends
// with a line that begins with ":" and says what else may stand there: ":file", ":directory",
// ":command" or ":".
[[nodiscard]] std::string_view completion_script(std::string_view shell);

}  // namespace mortise::cli
