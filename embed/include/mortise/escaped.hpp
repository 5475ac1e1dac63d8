#pragma once

#include <string>
#include <string_view>

namespace mortise {

// The bytes as they may be shown on a terminal or written to a log: printable text stays as it is,
// UTF-8 included; control characters, and what is not UTF-8, become \x1b and the like. Escaping
// twice changes nothing more. Not for JSON, which has rules of its own.
[[nodiscard]] std::string escaped(std::string_view bytes);

}  // namespace mortise
