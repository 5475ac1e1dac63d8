// The settings of RocksDB for the databases, and what an open database consists of.
#pragma once

#include <filesystem>
#include <memory>

#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include "storage/base/errors.hpp"
#include "storage/files/log_room.hpp"
#include "storage/rocks/rocks_env.hpp"
#include "storage/rocks/rocks_errors.hpp"
#include "storage/rocks/rocks_process.hpp"

namespace mortise::storage {

[[nodiscard]] rocksdb::Options log_options(RocksEnv& env, std::shared_ptr<BackgroundErrors> errors);
[[nodiscard]] rocksdb::Options state_options(RocksEnv& env,
                                             std::shared_ptr<BackgroundErrors> errors);
[[nodiscard]] rocksdb::Options marks_options(RocksEnv& env,
                                             std::shared_ptr<BackgroundErrors> errors);

// For memtables to come.
[[nodiscard]] rocksdb::Status set_memtable_bytes(rocksdb::DB& db, std::uint64_t bytes);

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
