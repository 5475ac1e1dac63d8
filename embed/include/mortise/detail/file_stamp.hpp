// Whether a file has changed since it was read. Not for use by programs.
#pragma once

#include <cstdint>
#include <filesystem>

#include <sys/stat.h>

namespace mortise::detail {

// The properties of a file that differ after a change. A file that cannot be found has the stamp of
// none.
struct FileStamp {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = -1;
    std::int64_t modified_ns = 0;
    std::int64_t changed_ns = 0;  // chmod and chown change it, too

    [[nodiscard]] static FileStamp of(const std::filesystem::path& path) {
        const auto ns = [](const timespec& time) {
            return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
        };
        struct stat found {};
        if (::stat(path.c_str(), &found) != 0) return {};
        return {found.st_dev, found.st_ino, found.st_size, ns(found.st_mtim), ns(found.st_ctim)};
    }

    friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

}  // namespace mortise::detail
