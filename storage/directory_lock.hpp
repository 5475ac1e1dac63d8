// One process, and in it one node, per data directory. What is locked is the directory itself: a
// file in it may be removed by those who tidy up. LOCK tells by whom, and is locked as well, for
// network file systems that lock no directories.
#pragma once

#include <atomic>
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

    // Keeps others out of it, as long as the answer lives, and changes nothing in it: for those who
    // only read. Several may do so at once. Fails with Errc::locked when a node has it.
    static Result<std::shared_ptr<const void>> keep_out(const std::filesystem::path& directory,
                                                        FileProbe* probe);

    // This life.
    [[nodiscard]] const Life& life() const { return life_; }
    // False for ever once the program closed a descriptor of it, or lose() was called: then nothing
    // is written to the directory any more. What was written while it was held to the end nobody
    // else can have overlooked.
    [[nodiscard]] bool is_held() noexcept;
    void lose() noexcept { is_lost_ = true; }
    [[nodiscard]] bool is_local() const { return is_on_local_file_system(file_.descriptor()); }

    DirectoryLock(File directory, File file, Life life);
    // Gives it back, even while a child of a fork has a copy of the descriptor; not in that child.
    ~DirectoryLock();
    DirectoryLock(const DirectoryLock&) = delete;
    DirectoryLock& operator=(const DirectoryLock&) = delete;

private:
    // A process that dies loses the locks with the last descriptors of these.
    File directory_;
    File file_;
    Life life_;
    const pid_t owner_;
    // A lock of flock() ends with the last that refers to the open file, and a mapping does: so
    // LOCK stays locked when the program closes all descriptors, until this is destroyed. Null
    // where that cannot be had.
    void* const mapping_;
    std::atomic<bool> is_lost_ = false;
};

}  // namespace mortise::storage
