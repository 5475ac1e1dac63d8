// Descriptors belong to the process, hence to the host: how many there are, which numbers are not
// for us, and what it means that none is left (docs/decisions/0030).
#pragma once

#include <cstdint>

#include <sys/types.h>

namespace mortise::storage {

// Which open file a number stands for. The program may close any number, and the next file that
// anybody opens gets it: before we write to one, or close it, we look whether it is still ours
// (docs/decisions/0034).
class OpenFile {
public:
    OpenFile() = default;
    // Files without a name, of epoll, events and timers, look all alike. These get a mark: the
    // signal that their owner would be sent (F_SETSIG), if they had one.
    static OpenFile at(int descriptor) noexcept;

    // False when the process closed it.
    [[nodiscard]] bool is_at(int descriptor) const noexcept;
    // By its mark alone, if it has one: a fifth of the time.
    [[nodiscard]] bool seems_at(int descriptor) const noexcept;

private:
    dev_t device_ = 0;
    ino_t inode_ = 0;
    int mark_ = 0;  // zero: it needs none
};

// The process, or the system, has no descriptor left. No fault of a disk, and it passes by itself.
[[nodiscard]] bool is_shortage(int errno_value) noexcept;

// The soft RLIMIT_NOFILE; the largest number if there is no limit.
[[nodiscard]] std::uint64_t descriptor_limit() noexcept;

// How many files RocksDB may keep open for one database, by that limit. It may exceed the number
// for a moment, by the files of one compaction.
[[nodiscard]] int database_files_max(std::uint64_t limit) noexcept;
// Open of a data directory that is at work, at least: itself, LOCK, meta and two of the countdowns;
// of each database LOCK, the directory, MANIFEST and the write-ahead log; and two for a flush.
constexpr std::uint64_t directory_descriptors_least = 5 + 2 * 4 + 2;
// Open of one data directory with two databases, at most, as far as can be foreseen.
[[nodiscard]] std::uint64_t directory_descriptors_max(std::uint64_t limit) noexcept;

// What the host prints goes to the files that have the numbers 0, 1 and 2. If the host has closed
// one of them, the next file that anybody opens gets its number; in ours the output would do
// damage. So /dev/null takes the numbers that are free. It is never closed again: after that the
// next file would get the number. Called before we open a file.
void occupy_standard_descriptors() noexcept;

}  // namespace mortise::storage
