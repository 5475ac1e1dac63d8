#include "storage/base/descriptors.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <limits>
#include <optional>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace mortise::storage {

namespace {

constexpr int standard_descriptors = 3;
// With fewer RocksDB would still open more, and it keeps ten of them for files other than tables.
constexpr std::uint64_t database_files_least = 20;
constexpr std::uint64_t database_files_most = 1'024;
constexpr std::uint64_t database_files_part = 16;  // of the limit
constexpr std::uint64_t no_tables = 10;
// The files of one database: LOCK, the directory, MANIFEST and the write-ahead log; during a flush
// also the new table, for writing and reading, and the next write-ahead log.
constexpr std::uint64_t database_files = 7;
// The directory, LOCK, meta, two for the countdowns, and one that is open for a moment.
constexpr std::uint64_t other_files = 6;

bool is_open(int descriptor) {
    return ::fcntl(descriptor, F_GETFD) >= 0;
}

// Each file gets another mark in turn, so that even the epolls of two nodes differ.
int next_mark() {
    constexpr unsigned first = 34;  // a real-time signal; it is never sent
    constexpr unsigned marks = 30;
    static std::atomic<unsigned> made{0};
    return static_cast<int>(first + made++ % marks);
}

struct Identity {
    dev_t device = 0;
    ino_t inode = 0;
};

// Does not ask for the times of the file: since Linux 6.13 the next write would have to set new
// ones, which are finer than those that it sets otherwise, and its sync to write them.
std::optional<Identity> file_at(int descriptor) noexcept {
    struct statx about {};
    if (::statx(descriptor, "", AT_EMPTY_PATH, STATX_INO, &about) == 0)
        return Identity{makedev(about.stx_dev_major, about.stx_dev_minor), about.stx_ino};
    struct stat with_times {};  // some sandboxes do not know statx
    if (errno == EBADF || ::fstat(descriptor, &with_times) != 0) return std::nullopt;
    return Identity{with_times.st_dev, with_times.st_ino};
}

}  // namespace

OpenFile OpenFile::at(int descriptor) noexcept {
    OpenFile file;
    struct stat about {};
    if (::fstat(descriptor, &about) != 0) return file;
    file.is_known_ = true;
    file.device_ = about.st_dev;
    file.inode_ = about.st_ino;
    const bool has_no_name = (about.st_mode & S_IFMT) == 0;
    if (!has_no_name) return file;
    const int mark = next_mark();
    if (::fcntl(descriptor, F_SETSIG, mark) == 0) file.mark_ = mark;
    return file;
}

bool OpenFile::is_at(int descriptor) const noexcept {
    const auto file = file_at(descriptor);
    if (!file || file->device != device_ || file->inode != inode_) return false;
    return mark_ == 0 || ::fcntl(descriptor, F_GETSIG) == mark_;
}

bool OpenFile::seems_at(int descriptor) const noexcept {
    return mark_ != 0 ? ::fcntl(descriptor, F_GETSIG) == mark_ : is_at(descriptor);
}

bool is_shortage(int errno_value) noexcept {
    return errno_value == EMFILE || errno_value == ENFILE;
}

std::uint64_t descriptor_limit() noexcept {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return std::numeric_limits<std::uint64_t>::max();
    return limit.rlim_cur;
}

int database_files_max(std::uint64_t limit) noexcept {
    return static_cast<int>(std::clamp<std::uint64_t>(limit / database_files_part,
                                                      database_files_least, database_files_most));
}

std::uint64_t directory_descriptors_max(std::uint64_t limit) noexcept {
    const auto tables = static_cast<std::uint64_t>(database_files_max(limit)) - no_tables;
    return other_files + 2 * (database_files + tables);
}

void occupy_standard_descriptors() noexcept {
    for (int number = 0; number < standard_descriptors; ++number) {
        if (is_open(number)) continue;
        const int placeholder = ::open("/dev/null", O_RDWR | O_CLOEXEC);
        if (placeholder < standard_descriptors) continue;  // or none is free
        ::close(placeholder);  // another thread took the number meanwhile
    }
}

}  // namespace mortise::storage
