// The settings of RocksDB for the databases, and the translation of its errors.
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

// Set, for ever, when a flush or a compaction failed in the background. RocksDB may continue after
// such an error; this library does not.
class BackgroundErrors final : public rocksdb::EventListener {
public:
    void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* status) override;

    // The first error; `path` is that of the database.
    [[nodiscard]] Result<void> check(const std::filesystem::path& path) const;

private:
    std::atomic<int> first_{0};  // an Errc
};

// The limit of the log's write-ahead files.
constexpr std::uint64_t log_ahead_bytes_max = std::uint64_t{256} << 20U;

[[nodiscard]] rocksdb::Options log_options(RocksEnv& env, std::shared_ptr<BackgroundErrors> errors);
[[nodiscard]] rocksdb::Options state_options(RocksEnv& env,
                                             std::shared_ptr<BackgroundErrors> errors);
[[nodiscard]] rocksdb::Options marks_options(RocksEnv& env,
                                             std::shared_ptr<BackgroundErrors> errors);

// The meaning of `status`, which must not be ok, for the database at the path.
[[nodiscard]] Error to_error(const rocksdb::Status& status, const std::filesystem::path& path);

// An open database with what it needs; members are destroyed in the right order.
struct RocksDatabase {
    std::filesystem::path path;
    GoneBeforeExit<RocksEnv> env;
    std::shared_ptr<BackgroundErrors> errors;
    GoneBeforeExit<rocksdb::DB> db;
};

// Everything but the database itself. Null means the system's file system.
[[nodiscard]] Result<RocksDatabase> prepare_database(
    std::filesystem::path path, const std::shared_ptr<rocksdb::FileSystem>& files);

}  // namespace mortise::storage
