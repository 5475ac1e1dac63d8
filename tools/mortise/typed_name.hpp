// The name of a lock, as somebody typed it.
#pragma once

#include <string>

namespace mortise::cli {

// With `is_escaped` the name is written as listings show it, so every name can be typed. Throws
// Failure if it is not.
[[nodiscard]] std::string name_of(const std::string& typed, bool is_escaped);
// The same for somebody who may have copied it from a listing: without `is_escaped` a text that is
// also a name in that form is refused, since it would mean another name than the listing shows.
[[nodiscard]] std::string looked_up_name_of(const std::string& typed, bool is_escaped);

}  // namespace mortise::cli
