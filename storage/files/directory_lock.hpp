// Ensures that one process, and in it one node, uses a data directory. The directory itself is
// locked, because a file in it may be removed by a clean-up. LOCK names the process, and is locked
// as well, for network file systems that cannot lock directories.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>

#include <sys/types.h>

#include "storage/base/host.hpp"
#include "storage/files/files.hpp"

namespace mortise::storage {

class DirectoryLock {
public:
    // Fails with Errc::locked if another process has it, and names the process if it is known.
    static Result<std::shared_ptr<DirectoryLock>> take(const std::filesystem::path& directory,
                                                       FileProbe* probe);

    // Excludes nodes as long as the result lives, and changes nothing in the directory: for
    // readers. Several readers may do so at once. Fails with Errc::locked if a node has it.
    static Result<std::shared_ptr<const void>> keep_out(const std::filesystem::path& directory,
                                                        FileProbe* probe);

    // The identity of this run.
    [[nodiscard]] const Life& life() const { return life_; }
    // False for ever once the program has closed a descriptor of it, or lose() was called: then
    // nothing is written to the directory any more. What was written while it was held until the
    // end is visible to every later process.
    [[nodiscard]] bool is_held() noexcept;
    void lose() noexcept { is_lost_ = true; }
    // To be called once for each write. It fails if the lock is not held, or if the directory was
    // moved or removed: another process could then make a new one at the path, and would find it
    // unlocked.
    [[nodiscard]] Result<void> check();
    [[nodiscard]] bool is_local() const { return is_on_local_file_system(file_.descriptor()); }

    DirectoryLock(File directory, File file, Life life);
    // Releases the lock, even if a child of a fork has a copy of the descriptor; but not in that
    // child.
    ~DirectoryLock();
    DirectoryLock(const DirectoryLock&) = delete;
    DirectoryLock& operator=(const DirectoryLock&) = delete;

private:
    // When the process dies, the locks end with the last descriptors of these.
    File directory_;
    File file_;          // LOCK
    Life life_;          // set by take()
    const pid_t owner_;  // the process that took it; a child of a fork is another one
    // A lock of flock() ends with the last reference to the open file, and a mapping is one. So
    // LOCK stays locked if the program closes all descriptors, until this is destroyed. Null if the
    // file cannot be mapped.
    void* const mapping_;
    std::atomic<bool> is_lost_ = false;  // set once, by is_held() or lose()
};

}  // namespace mortise::storage
