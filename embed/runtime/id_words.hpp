// A list of nodes in words.
#pragma once

#include <string>
#include <vector>

#include "core/base/ids.hpp"

namespace mortise::detail {

// "1, 2, 3"
[[nodiscard]] inline std::string ids_in_words(const std::vector<core::NodeId>& ids) {
    std::string text;
    for (const auto id : ids)
        text += (text.empty() ? "" : ", ") + std::to_string(id.raw());
    return text;
}

}  // namespace mortise::detail
