#include "storage/state/rocks_state_store.hpp"

#include <utility>

#include <rocksdb/write_batch.h>

#include "core/locks/machine/machine_loader.hpp"
#include "storage/rocks/sealed_row.hpp"
#include "storage/state/rocks_state_view.hpp"

namespace mortise::storage {

namespace {

void put(rocksdb::WriteBatch& batch, const AppliedRow& about) {
    batch.Put(rocksdb::Slice{applied_key.data(), applied_key.size()}, encode_applied(about));
}

void put(rocksdb::WriteBatch& batch, std::uint64_t row_set, const core::Row& row) {
    const auto key = row_key(row_set, row.key);
    if (row.value) {
        batch.Put(key, seal(key, *row.value));
    } else {
        batch.Delete(key);
    }
}

// Removes all row sets except that one.
void put_clearing(rocksdb::WriteBatch& batch, std::uint64_t kept) {
    const std::string end{row_prefix + 1};
    if (kept > 0) batch.DeleteRange(row_set_begin(0), row_set_begin(kept));
    batch.DeleteRange(row_set_begin(kept + 1), end);
}

// Removes the rows of an install that a crash interrupted. They would not be mistaken for the
// state, but they are many.
Result<void> drop_unfinished(const RocksDatabase& database, std::uint64_t kept) {
    const RowReader next{database, kept + 1, {}, nullptr};
    if (!next.at_row()) return next.end();
    rocksdb::WriteBatch batch;
    put_clearing(batch, kept);
    rocksdb::WriteOptions unlogged;
    unlogged.disableWAL = true;
    auto status = database.db->Write(unlogged, &batch);
    if (!status.ok()) return to_error(status, database.path);
    return {};
}

Result<core::LockMachine> recover_machine(const RocksDatabase& database, const AppliedRow& about) {
    core::MachineLoader loader;
    RowReader rows{database, about.row_set, {}, nullptr};
    for (; rows.at_row(); rows.next()) {
        const auto value = rows.value();
        if (!value) return value.error();
        if (!loader.add(rows.key(), *value))
            return damaged(database, "a row of the state cannot be read");
    }
    if (auto ended = rows.end(); !ended) return std::move(ended).error();
    auto machine = loader.finish(about.applied.index);
    if (!machine) return damaged(database, "the rows of the state do not fit together");
    return *std::move(machine);
}

}  // namespace

Result<RocksDatabase> RocksStateStore::open(const std::filesystem::path& path,
                                            const std::shared_ptr<rocksdb::FileSystem>& files,
                                            bool may_create) {
    auto database = prepare_database(path, files);
    if (!database) return database;
    auto options = state_options(*database->env, database->errors);
    options.create_if_missing = may_create;
    rocksdb::DB* db = nullptr;
    auto status = open_before_exit([&] { return rocksdb::DB::Open(options, path.string(), &db); });
    database->db.reset(db);
    if (!status.ok()) return to_error(status, path);
    return database;
}

Result<RecoveredState> RocksStateStore::read(const RocksDatabase& database,
                                             core::Incarnation incarnation) {
    auto about = read_applied(database, incarnation, nullptr);
    if (!about) return std::move(about).error();
    auto machine = recover_machine(database, *about);
    if (!machine) return std::move(machine).error();
    return RecoveredState{*std::move(about), *std::move(machine)};
}

Result<RecoveredState> RocksStateStore::recover(RocksDatabase& database, const Meta& meta) {
    auto found = read(database, meta.incarnation);
    if (!found) return found;
    if (auto dropped = drop_unfinished(database, found->about.row_set); !dropped)
        return std::move(dropped).error();
    return found;
}

RocksStateStore::RocksStateStore(Held held, RocksDatabase database, CountdownFile countdowns,
                                 AppliedRow about)
    : held_{std::move(held)},
      database_{std::move(database)},
      countdowns_{std::move(countdowns)},
      about_{std::move(about)} {}

Result<void> RocksStateStore::write(const StateWrite& write) {
    if (failed_) return *failed_;
    if (goes_back(write.applied, write.configuration)) return misuse("the state cannot go back");
    auto about = about_;
    about.applied = write.applied;
    about.configuration = write.configuration;
    about.is_installed = false;
    rocksdb::WriteBatch batch;
    put(batch, about);
    for (const auto& row : write.rows)
        put(batch, about.row_set, row);
    if (auto done = this->write(batch); !done) return done;
    about_ = std::move(about);
    return {};
}

Result<core::LogIndex> RocksStateStore::flush() {
    if (failed_) return *failed_;
    rocksdb::FlushOptions wait;
    if (auto done = check(database_.db->Flush(wait)); !done) return std::move(done).error();
    return about_.applied.index;
}

Result<void> RocksStateStore::save_countdowns(const core::SavedCountdowns& countdowns) {
    if (failed_) return *failed_;
    if (held_.lock) {
        if (auto held = held_.lock->check(); !held) return fail(std::move(held).error());
    }
    if (auto saved = countdowns_.save(countdowns); !saved) return fail(std::move(saved).error());
    return {};
}

Result<std::unique_ptr<StateView>> RocksStateStore::view() {
    if (failed_) return *failed_;
    auto view = RocksStateView::make(database_, about_.incarnation);
    if (!view) static_cast<void>(fail(view.error()));
    return view;
}

// Removes the rows of an earlier install that did not become the state.
Result<void> RocksStateStore::begin_install(const core::LogId& last,
                                            const core::Configuration& configuration) {
    if (failed_) return *failed_;
    if (goes_back(last, configuration)) return misuse("an installed state cannot go back");
    installing_ = AppliedRow{about_.incarnation, about_.row_set + 1, last, configuration, true};
    rocksdb::WriteBatch batch;
    put_clearing(batch, about_.row_set);
    return write(batch);
}

Result<void> RocksStateStore::install(std::span<const core::Row> rows) {
    if (failed_) return *failed_;
    if (!installing_) return misuse("no install was begun");
    rocksdb::WriteBatch batch;
    for (const auto& row : rows) {
        if (!row.value) return misuse("a row without a value is installed");
        put(batch, installing_->row_set, row);
    }
    return write(batch);
}

// Without a write-ahead log a crash loses the newest writes first, so the switch to these rows
// never survives without the rows.
Result<void> RocksStateStore::finish_install() {
    if (failed_) return *failed_;
    if (!installing_) return misuse("no install was begun");
    if (goes_back(installing_->applied, installing_->configuration))
        return misuse("an installed state cannot go back");
    rocksdb::WriteBatch batch;
    put(batch, *installing_);
    put_clearing(batch, installing_->row_set);
    if (auto done = write(batch); !done) return done;
    about_ = *std::exchange(installing_, std::nullopt);
    auto flushed = flush();
    if (!flushed) return std::move(flushed).error();
    return {};
}

// Terms are those of one cluster: a recovery begins them anew.
bool RocksStateStore::goes_back(const core::LogId& to, const core::Configuration& of) const {
    const bool is_same = of.cluster == about_.configuration.cluster;
    return to.index < about_.applied.index || (is_same && to.term < about_.applied.term);
}

Result<void> RocksStateStore::write(rocksdb::WriteBatch& batch) {
    rocksdb::WriteOptions unlogged;
    unlogged.disableWAL = true;
    return check(database_.db->Write(unlogged, &batch));
}

Result<void> RocksStateStore::misuse(const std::string& what) {
    return fail(
        {std::make_error_code(std::errc::invalid_argument), database_.path.string() + ": " + what});
}

Result<void> RocksStateStore::check(const rocksdb::Status& status) {
    if (!status.ok()) return fail(to_error(status, database_.path));
    if (auto whole = database_.errors->check(database_.path); !whole) return fail(whole.error());
    return {};
}

Result<void> RocksStateStore::fail(Error error) {
    if (error.code == Errc::no_space && held_.reserve) held_.reserve->release();
    failed_ = std::move(error);
    return *failed_;
}

}  // namespace mortise::storage
