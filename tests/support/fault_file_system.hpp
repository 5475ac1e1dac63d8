// A disk that fails, and one whose power fails, below RocksDB and below what storage does to files
// by itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <rocksdb/file_system.h>

#include "core/base/prng.hpp"
#include "storage/open_parts.hpp"

namespace mortise::test {

// Counts the steps that go to the disk, from any thread, and decides what becomes of each. It also
// keeps what a loss of power would leave of every file that was written through it.
class FaultyDisk final : public storage::FileProbe {
public:
    // Every step counts one: opening, writing, syncing, renaming. Zero: none fails.
    void fail_at(std::uint64_t step);
    // That step fails and all after it: the power is off.
    void power_off_at(std::uint64_t step);
    [[nodiscard]] bool has_failed() const;
    // The step that failed, for a message.
    [[nodiscard]] std::string failed_step() const;
    // Steps that changed a file's content after the one that failed.
    [[nodiscard]] std::vector<std::string> written_after_failure() const;

    // What is left after a loss of power: of every file the synced part and, drawn from the seed,
    // some of the rest. Requires that nobody has the files open any more.
    void lose_unsynced(std::uint64_t seed);

    // FileProbe
    int before(storage::FileStep step, const std::filesystem::path& path) override;
    void after(storage::FileStep step, const std::filesystem::path& path) override;

    // For the file system below RocksDB.
    [[nodiscard]] bool fails(const char* step, const std::string& path);
    [[nodiscard]] bool is_off() const;
    void appended(const std::string& path, std::uint64_t size);
    void synced(const std::string& path);
    void renamed(const std::string& from, const std::string& to);
    void gone(const std::string& path);

private:
    // Of a file that only grows.
    struct Grown {
        std::uint64_t size = 0;
        std::uint64_t synced = 0;
    };

    bool count(const std::string& step, bool changes_content);

    mutable std::mutex mutex_;
    std::uint64_t steps_ = 0;
    std::uint64_t fail_at_ = 0;
    std::string failed_;
    std::vector<std::string> after_failure_;
    bool cuts_power_ = false;
    bool off_ = false;
    std::map<std::string, Grown> grown_;
    std::map<std::string, std::string> images_;  // of files written in place, when last synced
};

// RocksDB's way to that disk.
[[nodiscard]] std::shared_ptr<rocksdb::FileSystem> file_system_of(FaultyDisk& disk);

}  // namespace mortise::test
