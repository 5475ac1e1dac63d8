#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mortise {

// Makes bytes safe for a terminal or a log: printable text, UTF-8 included, stays as it is; control
// characters and invalid UTF-8 become \x1b and the like. Escaping twice changes nothing. Not for
// JSON, which has its own rules.
[[nodiscard]] std::string escaped(std::string_view bytes);
// The same for the name of a lock, and a backslash becomes \\: no two names look alike.
[[nodiscard]] std::string escaped_name(std::string_view name);
// The name that escaped_name() shows so. Any byte may be written as \x1b; empty if a backslash
// stands for nothing.
[[nodiscard]] std::optional<std::string> unescaped_name(std::string_view text);

}  // namespace mortise
