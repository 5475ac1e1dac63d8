#pragma once

#include <string_view>

namespace mortise::detail {

// The version of the build (project() in the top CMakeLists.txt).
inline constexpr std::string_view version = MORTISE_VERSION;

}  // namespace mortise::detail
