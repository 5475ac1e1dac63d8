// A disk that fails, and one that loses power, below RocksDB and below storage's own file
// operations.
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
#include "storage/directory/open_parts.hpp"
#include "tests/support/unsynced_bytes.hpp"
#include "tests/support/unsynced_names.hpp"

namespace mortise::test {

// The effect on a step, and on later ones.
enum class Trouble : std::uint8_t {
    once,       // it fails with EIO, later ones do not
    power_off,  // it fails, and all after it
    full,      // no file gets longer any more, until the reserve is released or space is free again
    no_quota,  // likewise, because a quota is used up
    read_only,  // nothing can be changed, until it is writable again
    shortage,   // nothing can be opened, for lack of descriptors
    bit_flip,   // the data that it reads has one wrong bit; counts reads only
};

// Counts the steps that go to the disk, from any thread, and decides the result of each. It also
// keeps what a loss of power would leave of every file that was written through it.
class FaultyDisk final : public storage::FileProbe {
public:
    // Every step counts: opening, writing, syncing, renaming. Zero: no trouble.
    void trouble_at(std::uint64_t step, Trouble trouble);
    // Ends the trouble: there is space, the disk is writable.
    void mend() { trouble_at(0, Trouble::once); }
    // A sync of a file with this text in its path does nothing and reports success.
    void lie_about_syncs_of(std::string part);
    [[nodiscard]] bool has_failed() const;
    // The step that failed, for a message.
    [[nodiscard]] std::string failed_step() const;
    // Steps that changed a file's content after the one that failed.
    [[nodiscard]] std::vector<std::string> written_after_failure() const;

    // Names in that tree may be lost as well; all present ones are durable.
    void watch_names(const std::filesystem::path& root);

    // Leaves what a loss of power leaves: of every file with this text in its path the synced part
    // and, drawn from the seed, some of the rest. Requires that the files are closed.
    void lose_unsynced(std::uint64_t seed, std::string_view part = {});

    // FileProbe
    int before(storage::FileStep step, const std::filesystem::path& path) override;
    void after(storage::FileStep step, const std::filesystem::path& path) override;

    // For the file system below RocksDB.
    [[nodiscard]] rocksdb::IOStatus take(const char* step, const std::string& path);
    [[nodiscard]] bool is_off() const;
    void read(const std::string& path, rocksdb::Slice* bytes, char* scratch);
    void appended(const std::string& path, std::uint64_t size);
    // At a place of the caller's choice; such a file is never appended to.
    void written(const std::string& path, std::uint64_t offset, std::string_view bytes);
    void truncated(const std::string& path, std::uint64_t size);
    void synced(const std::string& path);
    void renamed(const std::string& from, const std::string& to);
    void gone(const std::string& path);
    void directory_synced(const std::string& path);

private:
    // A file that only grows.
    struct Grown {
        std::uint64_t size = 0;
        std::uint64_t synced = 0;
    };

    [[nodiscard]] bool lacks_room() const {
        return trouble_ == Trouble::full || trouble_ == Trouble::no_quota;
    }
    // The errno with which a step fails, or none.
    int count(const std::string& step, std::string_view kind);
    [[nodiscard]] bool stops(std::string_view kind, const std::string& step) const;

    mutable std::mutex mutex_;
    std::uint64_t steps_ = 0;
    std::uint64_t trouble_at_ = 0;
    std::uint64_t reads_ = 0;
    Trouble trouble_ = Trouble::once;
    bool in_trouble_ = false;
    std::string lied_about_;
    std::string failed_;
    std::vector<std::string> after_failure_;
    std::map<std::string, Grown> grown_;
    // of files that are written in place, as of the last sync
    std::map<std::string, std::string> images_;
    UnsyncedBytes bytes_;  // of files that RocksDB writes in place
    UnsyncedNames names_;
};

// RocksDB's access to that disk.
[[nodiscard]] std::shared_ptr<rocksdb::FileSystem> file_system_of(FaultyDisk& disk);

}  // namespace mortise::test
