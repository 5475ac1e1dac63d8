// One process, and in it one node, per data directory.
#pragma once

#include <filesystem>
#include <memory>

#include "storage/files.hpp"
#include "storage/host.hpp"

namespace mortise::storage {

class DirectoryLock {
public:
    // Fails with Errc::locked when somebody has it, and says who if that is known.
    static Result<std::shared_ptr<DirectoryLock>> take(const std::filesystem::path& directory,
                                                       FileProbe* probe);

    // This life.
    [[nodiscard]] const Life& life() const { return life_; }
    [[nodiscard]] bool is_local() const { return is_on_local_file_system(file_.descriptor()); }

    DirectoryLock(File file, Life life);

private:
    File file_;  // the lock goes when the last descriptor of this open file does
    Life life_;
};

}  // namespace mortise::storage
