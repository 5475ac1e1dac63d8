// The settings of RocksDB for the databases, and what an open database consists of.
#pragma once

#include <filesystem>
#include <memory>
#include <utility>

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

// From now on. A flush or a compaction that has begun before puts the former size in force again,
// until the next memtable.
[[nodiscard]] rocksdb::Status set_memtable_bytes(rocksdb::DB& db, std::uint64_t bytes);

// An open database with what it needs. Members are destroyed in the right order; an assignment goes
// through them in the other one, and would take the environment away from the database that is
// open.
struct RocksDatabase {
    RocksDatabase() = default;
    RocksDatabase(std::filesystem::path its_path, GoneBeforeExit<RocksEnv> its_env)
        : path{std::move(its_path)},
          env{std::move(its_env)},
          errors{std::make_shared<BackgroundErrors>()} {}
    ~RocksDatabase() = default;
    RocksDatabase(RocksDatabase&&) = default;
    RocksDatabase& operator=(RocksDatabase&& other) noexcept {
        db.reset();
        path = std::move(other.path);
        env = std::move(other.env);
        errors = std::move(other.errors);
        db = std::move(other.db);
        return *this;
    }

    std::filesystem::path path;
    GoneBeforeExit<RocksEnv> env;
    std::shared_ptr<BackgroundErrors> errors;
    GoneBeforeExit<rocksdb::DB> db;
};

// Everything but the database itself. Null means the system's file system.
[[nodiscard]] Result<RocksDatabase> prepare_database(
    std::filesystem::path path, const std::shared_ptr<rocksdb::FileSystem>& files);

}  // namespace mortise::storage
