// Descriptors belong to the process, hence to the host: their number, the numbers that the library
// must not use, and the error when none is free (docs/decisions/0030).
#pragma once

#include <cstdint>

#include <sys/types.h>

namespace mortise::storage {

// Which open file a number refers to. The program may close any number, and the next file that any
// code opens gets it. Before the library writes to a number or closes it, it checks whether the
// number is still its own (docs/decisions/0034).
class OpenFile {
public:
    OpenFile() = default;
    // Files without a name (epoll, events, timers) all look alike. They get a mark: the signal that
    // their owner would receive (F_SETSIG), if they had one.
    static OpenFile at(int descriptor) noexcept;

    // False if the system did not say, and errno has the reason.
    [[nodiscard]] bool is_known() const noexcept { return is_known_; }
    // False if the process closed it.
    [[nodiscard]] bool is_at(int descriptor) const noexcept;
    // Checks only the mark, if there is one, in a fifth of the time.
    [[nodiscard]] bool seems_at(int descriptor) const noexcept;

private:
    dev_t device_ = 0;
    ino_t inode_ = 0;
    int mark_ = 0;  // zero: no mark is needed
    bool is_known_ = false;
};

// The process or the system has no free descriptor. This is not an error of the disk, and it passes
// by itself.
[[nodiscard]] bool is_shortage(int errno_value) noexcept;

// The soft RLIMIT_NOFILE; the largest number if there is no limit.
[[nodiscard]] std::uint64_t descriptor_limit() noexcept;

// How many files RocksDB may keep open for one database, given that limit. It may exceed the number
// for a moment, by the files of one compaction.
[[nodiscard]] int database_files_max(std::uint64_t limit) noexcept;
// The smallest number of open files of a data directory in use: itself, LOCK, meta and two for the
// countdowns; for each database LOCK, the directory, MANIFEST and the write-ahead log; and two for
// a flush.
constexpr std::uint64_t directory_descriptors_least = 5 + 2 * 4 + 2;
// The largest expected number of open files of one data directory with two databases.
[[nodiscard]] std::uint64_t directory_descriptors_max(std::uint64_t limit) noexcept;

// The host's output goes to the files with the numbers 0, 1 and 2. If the host has closed one of
// them, the next file that is opened gets its number; in a file of ours the output would do damage.
// So /dev/null takes the numbers that are free. It is never closed again, because the next file
// would get the number. Called before the library opens a file.
void occupy_standard_descriptors() noexcept;

}  // namespace mortise::storage
