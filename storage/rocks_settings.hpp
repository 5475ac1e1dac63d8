// How RocksDB is set up for the two databases, and how its errors become ours.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include <rocksdb/db.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>

#include "storage/errors.hpp"
#include "storage/rocks_env.hpp"
#include "storage/rocks_process.hpp"

namespace mortise::storage {

// Set, for good, when a flush or compaction failed behind our back. RocksDB may think that it can
// go on; we do not.
class BackgroundErrors final : public rocksdb::EventListener {
public:
    void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* status) override;

    // The first one, of a database there.
    [[nodiscard]] Result<void> check(const std::filesystem::path& path) const;

private:
    std::atomic<int> first_{0};  // an Errc
};

// Of the log's write-ahead files.
constexpr std::uint64_t log_ahead_bytes_max = std::uint64_t{256} << 20U;

[[nodiscard]] rocksdb::Options log_options(RocksEnv& env, std::shared_ptr<BackgroundErrors> errors);
[[nodiscard]] rocksdb::Options state_options(RocksEnv& env,
                                             std::shared_ptr<BackgroundErrors> errors);
[[nodiscard]] rocksdb::Options marks_options(RocksEnv& env,
                                             std::shared_ptr<BackgroundErrors> errors);

// What `status` means for the database there; requires that it is not ok.
[[nodiscard]] Error to_error(const rocksdb::Status& status, const std::filesystem::path& path);

// An open database with what it needs to live; everything goes in the right order.
struct RocksDatabase {
    std::filesystem::path path;
    GoneBeforeExit<RocksEnv> env;
    std::shared_ptr<BackgroundErrors> errors;
    GoneBeforeExit<rocksdb::DB> db;
};

// Everything but the database itself. Null is the system's file system.
[[nodiscard]] Result<RocksDatabase> prepare_database(
    std::filesystem::path path, const std::shared_ptr<rocksdb::FileSystem>& files);

}  // namespace mortise::storage
