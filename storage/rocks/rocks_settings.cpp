#include "storage/rocks/rocks_settings.hpp"

#include <algorithm>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>

#include "storage/base/descriptors.hpp"
#include "storage/base/host.hpp"

namespace mortise::storage {

namespace {

constexpr std::size_t mib = std::size_t{1} << 20U;

// Otherwise RocksDB would open a file for its own log. Errors that matter are returned as a status.
class NoLogger final : public rocksdb::Logger {
public:
    using Logger::Logv;
    void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

// The format and the checksums that check_table() supports.
rocksdb::BlockBasedTableOptions table_options() {
    rocksdb::BlockBasedTableOptions table;
    table.format_version = 5;
    table.checksum = rocksdb::kCRC32c;
    return table;
}

rocksdb::Options common_options(RocksEnv& env, std::shared_ptr<BackgroundErrors> errors) {
    rocksdb::Options options;
    options.env = &env;
    options.info_log = std::make_shared<NoLogger>();
    options.listeners = {std::move(errors)};
    options.max_bgerror_resume_count = 0;
    options.max_background_jobs = 1;
    options.max_subcompactions = 1;
    options.max_file_opening_threads = 1;  // otherwise sixteen for each start
    options.max_open_files = database_files_max(descriptor_limit());
    // There is one writer, so no other writes are to be gathered or waited for.
    options.enable_write_thread_adaptive_yield = false;
    options.allow_concurrent_memtable_write = false;
    options.stats_dump_period_sec = 0;
    options.stats_persist_period_sec = 0;
    options.skip_stats_update_on_db_open = true;
    options.max_manifest_file_size = 4 * mib;
    // What was not flushed on purpose must not be flushed by closing, perhaps after an error.
    options.avoid_flush_during_shutdown = true;
    options.compression = rocksdb::kNoCompression;
    // RocksDB would allocate 4 MiB for a manifest and 70 MiB for a table, however little it writes:
    // for a moment that fills a small volume, and the write of an entry fails.
    options.allow_fallocate = false;
    return options;
}

}  // namespace

rocksdb::Options log_options(RocksEnv& env, std::shared_ptr<BackgroundErrors> errors) {
    auto options = common_options(env, std::move(errors));
    // The default, point in time, would stop before a bad record and silently drop what was synced
    // after it.
    options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
    options.max_total_wal_size = LogRoom::ahead_bytes_max;
    // Entries are purged before their memtable is full, and their rows cancel out when it is
    // flushed. So tables are small, and no block is read twice; only for a slow member they have
    // entries, which a compaction removes later (log_room.hpp).
    options.write_buffer_size = LogRoom{}.memtable_bytes;
    options.max_write_buffer_number = LogRoom::memtables;
    options.level0_file_num_compaction_trigger = 4;
    options.level0_slowdown_writes_trigger = 40;
    options.level0_stop_writes_trigger = 80;
    options.soft_pending_compaction_bytes_limit = 0;
    options.hard_pending_compaction_bytes_limit = 0;
    auto table = table_options();
    table.no_block_cache = true;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    return options;
}

rocksdb::Options state_options(RocksEnv& env, std::shared_ptr<BackgroundErrors> errors) {
    auto options = common_options(env, std::move(errors));
    options.write_buffer_size = 16 * mib;
    // The log is purged after a flush, so what was written is read again and compared.
    options.paranoid_file_checks = true;
    options.max_write_buffer_number = 4;
    auto table = table_options();  // a table is read once, at the start
    table.no_block_cache = true;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    return options;
}

rocksdb::Options marks_options(RocksEnv& env, std::shared_ptr<BackgroundErrors> errors) {
    auto options = common_options(env, std::move(errors));
    options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
    options.write_buffer_size = 4 * mib;
    // A mark is looked up for every write to a resource, and most resources have none yet.
    auto table = table_options();
    constexpr double bits_per_key = 10;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(bits_per_key));
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    return options;
}

// A memtable is full up to 0.6 blocks of its memory later. RocksDB would keep the size of the
// blocks that fits the largest one.
rocksdb::Status set_memtable_bytes(rocksdb::DB& db, std::uint64_t bytes) {
    const auto block = std::min<std::uint64_t>(bytes / 8, mib);
    return db.SetOptions({{"write_buffer_size", std::to_string(bytes)},
                          {"arena_block_size", std::to_string(block)},
                          {"disable_auto_compactions", "false"}});
}

// The environment starts a thread. RocksDB starts another one for the process when it opens a
// database. If it could not, an exception would leave the database half open, so this is tried
// first.
Result<RocksDatabase> prepare_database(std::filesystem::path path,
                                       const std::shared_ptr<rocksdb::FileSystem>& files) {
    try {
        GoneBeforeExit<RocksEnv> env{new RocksEnv{files}};
        std::thread{[] {}}.join();
        return RocksDatabase{std::move(path), std::move(env)};
    } catch (const std::system_error& failed) {
        return make_error(Errc::shortage, "cannot start a thread for " + path.string() +
                                              thread_limits() + ": " + failed.code().message());
    }
}

}  // namespace mortise::storage
