#include "storage/rocks_state_store.hpp"

#include <utility>

#include <rocksdb/write_batch.h>

#include "core/locks/machine_rows.hpp"
#include "storage/log_rows.hpp"

namespace mortise::storage {

namespace {

constexpr std::uint8_t version = 1;
constexpr std::string_view applied_key = "A";
constexpr char row_prefix = 'R';
constexpr std::size_t configuration_bytes_max = std::size_t{1} << 20U;

struct AppliedRow {
    core::Incarnation incarnation;
    core::LogId applied;
    core::Configuration configuration;  // for whoever gets this state without the log before it
};

std::string encode_applied(const AppliedRow& row) {
    core::ByteWriter out;
    out.u8(version);
    out.u64(row.incarnation.raw());
    out.u64(row.applied.term.raw());
    out.u64(row.applied.index.raw());
    out.text(encode_optional(row.configuration));
    return out.take();
}

std::optional<AppliedRow> decode_applied(std::string_view bytes) {
    core::ByteReader in{bytes};
    AppliedRow row;
    if (in.u8() != version) return std::nullopt;
    row.incarnation = core::Incarnation{in.u64()};
    row.applied = {core::Term{in.u64()}, core::LogIndex{in.u64()}};
    auto configuration = decode_optional(in.text(configuration_bytes_max));
    if (!in.done() || !configuration) return std::nullopt;
    row.configuration = *std::move(configuration);
    return row;
}

Error damaged(const RocksDatabase& database, const std::string& what) {
    return make_error(Errc::damaged, database.path.string() + ": " + what);
}

Result<core::LogId> recover_applied(RocksDatabase& database, const Meta& meta) {
    std::string bytes;
    auto status =
        database.db->Get({}, rocksdb::Slice{applied_key.data(), applied_key.size()}, &bytes);
    if (status.IsNotFound()) return core::LogId{};
    if (!status.ok()) return to_error(status, database.path);
    if (is_of_later_version(bytes)) {
        return make_error(Errc::newer_format,
                          database.path.string() + ": the state is of a later version");
    }
    const auto row = decode_applied(bytes);
    if (!row) return damaged(database, "the record of what is applied is damaged");
    if (row->incarnation != meta.incarnation)
        return damaged(database, "it belongs to another directory");
    return row->applied;
}

Result<core::LockMachine> recover_machine(RocksDatabase& database, core::LogIndex applied) {
    rocksdb::ReadOptions once;
    once.fill_cache = false;
    core::MachineLoader loader;
    const std::unique_ptr<rocksdb::Iterator> rows{database.db->NewIterator(once)};
    for (rows->Seek(rocksdb::Slice{&row_prefix, 1}); rows->Valid(); rows->Next()) {
        const auto key = rows->key().ToStringView();
        if (key.front() != row_prefix) break;
        if (!loader.add(key.substr(1), rows->value().ToStringView()))
            return damaged(database, "a row of the state is damaged");
    }
    if (!rows->status().ok()) return to_error(rows->status(), database.path);
    auto machine = loader.finish(applied);
    if (!machine) return damaged(database, "the rows of the state do not fit together");
    return *std::move(machine);
}

}  // namespace

Result<RocksDatabase> RocksStateStore::open(const std::filesystem::path& path,
                                            const std::shared_ptr<rocksdb::FileSystem>& files,
                                            bool may_create) {
    RocksDatabase database{path, std::make_unique<RocksEnv>(files),
                           std::make_shared<BackgroundErrors>(), nullptr};
    auto options = state_options(*database.env, database.errors);
    options.create_if_missing = may_create;
    rocksdb::DB* db = nullptr;
    auto status = rocksdb::DB::Open(options, path.string(), &db);
    database.db.reset(db);
    if (!status.ok()) return to_error(status, path);
    return database;
}

Result<RecoveredState> RocksStateStore::recover(RocksDatabase& database, const Meta& meta) {
    auto applied = recover_applied(database, meta);
    if (!applied) return std::move(applied).error();
    auto machine = recover_machine(database, applied->index);
    if (!machine) return std::move(machine).error();
    return RecoveredState{*applied, *std::move(machine)};
}

RocksStateStore::RocksStateStore(std::shared_ptr<DirectoryLock> lock, RocksDatabase database,
                                 CountdownFile countdowns, const Meta& meta, core::LogId applied)
    : lock_{std::move(lock)},
      database_{std::move(database)},
      countdowns_{std::move(countdowns)},
      incarnation_{meta.incarnation},
      applied_{applied} {}

Result<void> RocksStateStore::write(const StateWrite& write) {
    if (failed_) return *failed_;
    if (write.applied.index < applied_.index || write.applied.term < applied_.term) {
        return fail({std::make_error_code(std::errc::invalid_argument),
                     database_.path.string() + ": the state cannot go back"});
    }
    rocksdb::WriteBatch batch;
    batch.Put(rocksdb::Slice{applied_key.data(), applied_key.size()},
              encode_applied({incarnation_, write.applied, write.configuration}));
    for (const auto& row : write.rows) {
        const auto key = row_prefix + row.key;
        if (row.value) {
            batch.Put(key, *row.value);
        } else {
            batch.Delete(key);
        }
    }
    rocksdb::WriteOptions unlogged;
    unlogged.disableWAL = true;
    if (auto done = check(database_.db->Write(unlogged, &batch)); !done) return done;
    applied_ = write.applied;
    return {};
}

Result<core::LogIndex> RocksStateStore::flush() {
    if (failed_) return *failed_;
    rocksdb::FlushOptions wait;
    if (auto done = check(database_.db->Flush(wait)); !done) return std::move(done).error();
    return applied_.index;
}

Result<void> RocksStateStore::save_countdowns(std::span<const core::SavedCountdown> countdowns) {
    if (failed_) return *failed_;
    if (auto saved = countdowns_.save(countdowns); !saved) return fail(std::move(saved).error());
    return {};
}

Result<void> RocksStateStore::check(const rocksdb::Status& status) {
    if (!status.ok()) return fail(to_error(status, database_.path));
    if (!database_.errors->any()) return {};
    return fail(make_error(Errc::io, database_.path.string() + ": a background job failed"));
}

Result<void> RocksStateStore::fail(Error error) {
    failed_ = std::move(error);
    return *failed_;
}

}  // namespace mortise::storage
