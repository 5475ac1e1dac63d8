// The translation of RocksDB's errors into those of this library.
#pragma once

#include <atomic>
#include <filesystem>

#include <rocksdb/listener.h>
#include <rocksdb/status.h>

#include "storage/base/errors.hpp"

namespace mortise::storage {

// The meaning of `status`, which must not be ok, for the database at the path.
[[nodiscard]] Error to_error(const rocksdb::Status& status, const std::filesystem::path& path);

// Whether the disk, a quota, or the limit of a file's size leaves no room.
[[nodiscard]] bool is_for_want_of_room(const rocksdb::Status& status);

// Set, for ever, when a flush or a compaction failed in the background. RocksDB may continue after
// such an error; this library does not.
class BackgroundErrors final : public rocksdb::EventListener {
public:
    void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* status) override;
    // After a full volume RocksDB 9 would recover by itself, and writes would wait for that.
    void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status /*error*/,
                              bool* auto_recovery) override {
        *auto_recovery = false;
    }

    // The first error; `path` is that of the database.
    [[nodiscard]] Result<void> check(const std::filesystem::path& path) const;

private:
    std::atomic<int> first_{0};  // an Errc
};

}  // namespace mortise::storage
