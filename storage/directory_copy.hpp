// Copies the content of a data directory, before a tool changes it.
#pragma once

#include <filesystem>

#include "storage/files.hpp"

namespace mortise::storage {

// Copies it to before-recovery-<n> within the directory, durably, and returns that place. Earlier
// copies, and the content that a start moved aside, are left out. A copy that fails is removed; one
// that a crash cut short has another name, and is removed by the next call. No process may change
// the directory meanwhile.
[[nodiscard]] Result<std::filesystem::path> copy_directory(const std::filesystem::path& directory,
                                                           FileProbe* probe);

}  // namespace mortise::storage
