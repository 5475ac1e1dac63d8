// The names in a tree of directories, and what a loss of power would leave of them: those of each
// directory's last sync, and a random part of the later changes.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "core/base/prng.hpp"

namespace mortise::test {

class UnsyncedNames {
public:
    UnsyncedNames() = default;
    ~UnsyncedNames();
    UnsyncedNames(const UnsyncedNames&) = delete;
    UnsyncedNames& operator=(const UnsyncedNames&) = delete;

    // From now on; all present names are durable. Files are kept beside the tree, so that they can
    // be restored.
    void watch(const std::filesystem::path& root);
    void synced(const std::filesystem::path& directory);
    // Undoes the creation, replacement or removal of names if `part` is in the path. Requires that
    // the names are not in use.
    void lose(core::Prng& prng, std::string_view part);

private:
    using Listing = std::map<std::string, ino_t>;

    void move_directories_back(core::Prng& prng, std::string_view part);
    void settle(const std::filesystem::path& directory, core::Prng& prng, std::string_view part);
    void take_back(const std::filesystem::path& name, ino_t before) const;
    [[nodiscard]] bool was_elsewhere(ino_t directory) const;
    [[nodiscard]] std::filesystem::path kept(ino_t inode) const;

    std::filesystem::path root_;
    std::filesystem::path kept_;
    // of each directory, by its inode, because it may be renamed
    std::map<ino_t, Listing> durable_;
};

}  // namespace mortise::test
