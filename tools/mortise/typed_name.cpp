#include "tools/mortise/typed_name.hpp"

#include "tools/mortise/exit_code.hpp"
#include <mortise/escaped.hpp>

namespace mortise::cli {

std::string name_of(const std::string& typed, bool is_escaped) {
    if (!is_escaped) return typed;
    if (auto name = unescaped_name(typed)) return *std::move(name);
    throw Failure{ExitCode::usage, "--escaped: \"" + escaped(typed) +
                                       "\" is not written as listings show a name: a backslash is "
                                       "\\\\, and a byte \\x1b"};
}

std::string looked_up_name_of(const std::string& typed, bool is_escaped) {
    if (!is_escaped && unescaped_name(typed).value_or(typed) != typed)
        throw Failure{ExitCode::usage,
                      "\"" + escaped(typed) +
                          "\" may be a name, or another name as listings show it: add --escaped, "
                          "and write \\\\ for each backslash of the name"};
    return name_of(typed, is_escaped);
}

}  // namespace mortise::cli
