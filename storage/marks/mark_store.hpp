// The high-water marks of fencing tokens, for a resource that holders write to (S14). A mark is a
// number that only grows, and is durable before it is used. RocksDB stores them, and raises of
// several threads share one sync.
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

#include "storage/directory/open_parts.hpp"
#include "storage/files/directory_lock.hpp"
#include "storage/rocks/rocks_settings.hpp"

namespace mortise::storage {

// All members may be called from several threads at once, and block on the disk.
class MarkStore {
public:
    // Creates the store if it is missing; its parent must exist. Errc::damaged if marks are missing
    // or altered that raise() has acknowledged, because refused tokens might then be accepted.
    static Result<std::unique_ptr<MarkStore>> open(const std::filesystem::path& path,
                                                   const Seams& seams);
    static Result<std::unique_ptr<MarkStore>> open(const std::filesystem::path& path);

    // Empty if it was never raised.
    [[nodiscard]] Result<std::optional<std::int64_t>> mark(std::string_view key);
    // Synced when it returns. Only one thread at a time may raise a key, and only upwards: nothing
    // is compared. An error is final: only the next open() shows what is durable. After
    // Errc::shortage the next call reopens the store until that succeeds; the mark that failed may
    // be found then.
    Result<void> raise(std::string_view key, std::int64_t mark);

    MarkStore(std::shared_ptr<DirectoryLock> lock, RocksDatabase database, File witness,
              Seams seams);

private:
    using Use = std::shared_lock<std::shared_mutex>;

    // The database, which stays usable as long as the result lives.
    Result<Use> use();
    Result<void> open_again();
    [[nodiscard]] Result<void> state() const;
    Result<void> write_witness();
    Result<void> fail(Error error);

    std::shared_ptr<DirectoryLock> lock_;  // held from the opening on, also while it is reopened
    Seams seams_;                          // as at the opening, for open_again()
    std::shared_mutex using_;   // shared by users of the database; exclusive while it is reopened
    RocksDatabase database_;    // it has no `db` only after an error
    mutable std::mutex mutex_;  // guards the members below
    File witness_;              // written after each raise
    // RocksDB's sequence number of the newest raise that the witness covers
    std::uint64_t witnessed_ = 0;
    std::optional<Error> failed_;  // the first error; open_again() clears a shortage
};

}  // namespace mortise::storage
