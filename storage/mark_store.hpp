// The high-water marks of fencing tokens, on the side of a resource that holders write to (S14):
// per mark one number that only rises, durable before anybody acts on it. In RocksDB, where raises
// of several threads share one sync.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>

#include "storage/directory_lock.hpp"
#include "storage/open_parts.hpp"
#include "storage/rocks_settings.hpp"

namespace mortise::storage {

// All members may be called from several threads at once; they block on the disk.
class MarkStore {
public:
    // Made when there is none; its parent must exist. Errc::damaged when marks are missing or
    // altered that raise() answered for: whoever was refused might not be any more.
    static Result<std::unique_ptr<MarkStore>> open(const std::filesystem::path& path,
                                                   const Seams& seams);
    static Result<std::unique_ptr<MarkStore>> open(const std::filesystem::path& path);

    // Empty when it was never raised.
    [[nodiscard]] Result<std::optional<std::int64_t>> mark(std::string_view key);
    // Synced when it answers. Of one key by one thread at a time, upwards: nothing is compared. An
    // error is final: what is durable then only the next open() tells. After Errc::shortage the
    // next call does what open() does, until that succeeds; it may find the mark that failed.
    Result<void> raise(std::string_view key, std::int64_t mark);

    MarkStore(std::shared_ptr<DirectoryLock> lock, RocksDatabase database, File witness,
              Seams seams);

private:
    using Use = std::shared_lock<std::shared_mutex>;

    // The database, fit for use as long as that is held.
    Result<Use> use();
    Result<void> open_again();
    [[nodiscard]] Result<void> state() const;
    Result<void> write_witness();
    Result<void> fail(Error error);

    std::shared_ptr<DirectoryLock> lock_;
    Seams seams_;
    std::shared_mutex using_;   // shared by those who use the database; of one who opens it again
    RocksDatabase database_;    // without a `db` only after an error
    mutable std::mutex mutex_;  // guards what follows
    File witness_;
    std::uint64_t witnessed_ = 0;  // RocksDB's number of the newest raise that the witness tells of
    std::optional<Error> failed_;
};

}  // namespace mortise::storage
