// What a damaged directory still says of itself.
#pragma once

#include <filesystem>

#include "storage/meta_file.hpp"
#include "storage/open_parts.hpp"

namespace mortise::storage {

// Of a "meta" that is lost, as far as the databases know it: whose it is, and which cluster. What
// cannot be read is not set.
[[nodiscard]] Meta salvage(const std::filesystem::path& directory, const Seams& seams);

}  // namespace mortise::storage
