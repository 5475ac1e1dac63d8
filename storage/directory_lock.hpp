// One process, and in it one node, per data directory.
#pragma once

#include <filesystem>
#include <memory>

#include <sys/types.h>

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
    // Gives it back, even while a child of a fork has a copy of the descriptor; not in that child.
    ~DirectoryLock();
    DirectoryLock(const DirectoryLock&) = delete;
    DirectoryLock& operator=(const DirectoryLock&) = delete;

private:
    File file_;  // a process that dies loses the lock with the last descriptor of this open file
    Life life_;
    const pid_t owner_;
};

}  // namespace mortise::storage
