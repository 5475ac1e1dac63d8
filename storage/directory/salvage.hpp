// Recovers the identity of a damaged directory.
#pragma once

#include <filesystem>

#include "storage/directory/open_parts.hpp"
#include "storage/files/meta_file.hpp"

namespace mortise::storage {

// The content of a lost "meta", as far as the databases have it: the owner and the cluster. What
// cannot be read is not set.
[[nodiscard]] Meta salvage(const std::filesystem::path& directory, const Seams& seams);

}  // namespace mortise::storage
