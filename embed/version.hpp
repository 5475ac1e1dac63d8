#pragma once

#include <string_view>

namespace mortise::detail {

// As the build says (project() in the top CMakeLists.txt).
inline constexpr std::string_view version = MORTISE_VERSION;

}  // namespace mortise::detail
