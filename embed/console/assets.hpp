// The files of the page, which are compiled into the library.
#pragma once

#include <string_view>

namespace mortise::console {

struct Asset {
    std::string_view path;
    std::string_view type;
    std::string_view content;
};

// Null if there is none at that path. "/" is the page.
[[nodiscard]] const Asset* find_asset(std::string_view path);

}  // namespace mortise::console
