// The names in a tree of directories, and what a loss of power would leave of them: those of each
// directory's last sync, and of what changed since any part.
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

    // From now on, and what is there is durable. Files are kept beside it, to be found again.
    void watch(const std::filesystem::path& root);
    void synced(const std::filesystem::path& directory);
    // Takes back names that were made, given to something else, or removed, where `part` is in the
    // path. Requires that nobody uses them.
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
    std::map<ino_t, Listing> durable_;  // of each directory, by its inode: it may be renamed
};

}  // namespace mortise::test
