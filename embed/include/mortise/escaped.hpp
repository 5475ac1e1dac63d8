#pragma once

#include <string>
#include <string_view>

namespace mortise {

// Makes bytes safe for a terminal or a log: printable text, UTF-8 included, stays as it is; control
// characters and invalid UTF-8 become \x1b and the like. Escaping twice changes nothing. Not for
// JSON, which has its own rules.
[[nodiscard]] std::string escaped(std::string_view bytes);

}  // namespace mortise
