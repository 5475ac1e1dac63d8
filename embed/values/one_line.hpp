#pragma once

#include <string>
#include <system_error>

#include "core/base/result.hpp"

namespace mortise::detail {

// Makes an error for the program. system_error appends the message of the code to ours, which may
// end with it already.
[[nodiscard]] inline std::system_error in_one_line(const core::Error& error) {
    auto text = error.what;
    const auto words = ": " + error.code.message();
    if (text.ends_with(words)) text.erase(text.size() - words.size());
    return {error.code, text};
}

}  // namespace mortise::detail
