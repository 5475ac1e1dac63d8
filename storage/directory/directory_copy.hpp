// Copies the content of a data directory, before a tool changes it.
#pragma once

#include <filesystem>

#include "storage/files/files.hpp"

namespace mortise::storage {

// Copies it to before-recovery-<n> within the directory, durably, and returns that place. Earlier
// copies, and the content that a start moved aside, are left out. A copy that fails is removed; one
// that a crash cut short has another name, and is removed by the next call. No process may change
// the directory meanwhile.
[[nodiscard]] Result<std::filesystem::path> copy_directory(const std::filesystem::path& directory,
                                                           FileProbe* probe);

// Errc::denied if something in `made`, which is the directory or a copy of it, belongs to another
// user than the `meta` of the directory: its node could not use that.
[[nodiscard]] Result<void> check_owners(const std::filesystem::path& directory,
                                        const std::filesystem::path& made);

}  // namespace mortise::storage
