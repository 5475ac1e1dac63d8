#include "storage/marks/mark_store.hpp"

#include <utility>

#include <fcntl.h>

#include "core/base/bytes.hpp"
#include "storage/base/own_thread.hpp"
#include "storage/log/torn_tail.hpp"
#include "storage/rocks/own_files.hpp"
#include "storage/rocks/sealed_row.hpp"

namespace mortise::storage {

namespace {

// The first byte of a key is its kind.
constexpr char mark_prefix = 'm';
constexpr std::string_view head_key = "h";
constexpr std::uint32_t format = 1;
constexpr std::string_view witness_key = "witness";
constexpr std::size_t witness_bytes = 16;

rocksdb::Slice slice(std::string_view text) {
    return {text.data(), text.size()};
}

std::string row_key(std::string_view key) {
    std::string row{mark_prefix};
    row += key;
    return row;
}

std::string sealed_number(std::string_view key, std::uint64_t number) {
    core::ByteWriter content;
    content.u64(number);
    return seal(key, content.take());
}

std::optional<std::uint64_t> number_in(std::string_view key, std::string_view row) {
    const auto content = unseal(key, row);
    if (!content) return std::nullopt;
    core::ByteReader reader{*content};
    const auto number = reader.u64();
    return reader.done() ? std::optional{number} : std::nullopt;
}

Error damaged(const std::filesystem::path& path, const std::string& what) {
    return make_error(Errc::damaged, path.string() + ": " + what);
}

// Every earlier database has a head.
Result<void> check_head(const RocksDatabase& database, bool is_new) {
    std::string row;
    auto status = database.db->Get({}, slice(head_key), &row);
    if (status.IsNotFound() && is_new) {
        rocksdb::WriteOptions synced;
        synced.sync = true;
        status = database.db->Put(synced, slice(head_key), sealed_number(head_key, format));
        if (status.ok()) return {};
    }
    if (status.IsNotFound()) return damaged(database.path, "it is empty, but was not");
    if (!status.ok()) return to_error(status, database.path);
    const auto number = number_in(head_key, row);
    if (!number) return damaged(database.path, "its first row cannot be read");
    if (*number > format)
        return make_error(Errc::newer_format, database.path.string() + ": of a later version");
    return {};
}

// A database that was cut at the end of a write looks undamaged. Like `meta` beside the log, the
// witness is written after each sync and not synced itself: a killed process leaves it exact; a
// loss of power may leave it older or torn, which weakens the check but causes no false alarm.
Result<void> compare(const RocksDatabase& database, const File& witness) {
    auto row = witness.read(witness_bytes);
    if (!row) return std::move(row).error();
    const auto witnessed = number_in(witness_key, *row);
    if (witnessed && *witnessed > database.db->GetLatestSequenceNumber())
        return damaged(database.path, "the newest marks are missing");
    return {};
}

Result<RocksDatabase> open_marks(const std::filesystem::path& path, const Seams& seams,
                                 const File& witness, bool is_new) {
    auto database = prepare_database(path, seams.files);
    if (!database) return database;
    auto options = marks_options(*database->env, database->errors);
    options.create_if_missing = is_new;
    if (auto opened = open_after_crash(std::move(options), *database); !opened)
        return std::move(opened).error();
    if (auto head = check_head(*database, is_new); !head) return std::move(head).error();
    if (auto same = compare(*database, witness); !same) return std::move(same).error();
    return database;
}

}  // namespace

Result<std::unique_ptr<MarkStore>> MarkStore::open(const std::filesystem::path& path,
                                                   const Seams& seams) {
    if (auto made = make_directory(path, seams.probe); !made) return std::move(made).error();
    auto lock = DirectoryLock::take(path, seams.probe);
    if (!lock) return std::move(lock).error();
    auto witness = File::open(path / "witness", O_RDWR | O_CREAT, seams.probe);
    if (!witness) return std::move(witness).error();
    auto written = witness->read(1);
    if (!written) return std::move(written).error();
    const bool is_new = written->empty();
    auto ours = seams;
    if (!ours.files) ours.files = own_files(*lock);
    auto database = open_marks(path / "marks", ours, *witness, is_new);
    if (!database) return std::move(database).error();
    auto store = std::make_unique<MarkStore>(*std::move(lock), *std::move(database),
                                             *std::move(witness), std::move(ours));
    // A new database is durable before the witness mentions it: from then on missing marks are a
    // loss. This happens before the first raise is acknowledged: an empty or missing witness means
    // a first start.
    if (auto synced = sync_directory(path, seams.probe); !synced) return std::move(synced).error();
    if (auto first = store->write_witness(); !first) return std::move(first).error();
    if (auto synced = store->witness_.sync(); !synced) return std::move(synced).error();
    return store;
}

Result<std::unique_ptr<MarkStore>> MarkStore::open(const std::filesystem::path& path) {
    return on_own_thread([&] { return open(path, Seams{}); });
}

MarkStore::MarkStore(std::shared_ptr<DirectoryLock> lock, RocksDatabase database, File witness,
                     Seams seams)
    : lock_{std::move(lock)},
      seams_{std::move(seams)},
      database_{std::move(database)},
      witness_{std::move(witness)} {}

Result<std::optional<std::int64_t>> MarkStore::mark(std::string_view key) {
    const auto use = this->use();
    if (!use) return use.error();
    const auto name = row_key(key);
    std::string row;
    const auto status = database_.db->Get({}, name, &row);
    if (status.IsNotFound()) return std::optional<std::int64_t>{};
    if (!status.ok()) return to_error(status, database_.path);
    const auto number = number_in(name, row);
    if (!number) return damaged(database_.path, "a mark cannot be read");
    return std::optional{static_cast<std::int64_t>(*number)};
}

Result<void> MarkStore::raise(std::string_view key, std::int64_t mark) {
    const auto use = this->use();
    if (!use) return use.error();
    const auto name = row_key(key);
    rocksdb::WriteOptions synced;
    synced.sync = true;
    const auto status =
        database_.db->Put(synced, name, sealed_number(name, static_cast<std::uint64_t>(mark)));
    const std::lock_guard guard{mutex_};
    if (!status.ok()) return fail(to_error(status, database_.path));
    if (auto well = database_.errors->check(database_.path); !well)
        return fail(std::move(well).error());
    if (auto told = write_witness(); !told) return told;
    // Another process may have the directory by now, which has not seen this write.
    if (auto held = lock_->check(); !held) return fail(std::move(held).error());
    return {};
}

Result<MarkStore::Use> MarkStore::use() {
    while (true) {
        Use use{using_};
        const auto well = state();
        if (well) return use;
        if (well.error().code != Errc::shortage) return well.error();
        use.unlock();
        if (auto again = open_again(); !again) return std::move(again).error();
    }
}

// RocksDB's error is final for that database. Another one replaces it, which reads from the files
// what is durable. The directory stays locked meanwhile.
Result<void> MarkStore::open_again() {
    const std::lock_guard alone{using_};
    if (auto well = state(); well || well.error().code != Errc::shortage) return well;
    const auto path = database_.path;
    database_.db.reset();
    auto database = on_own_thread([&] { return open_marks(path, seams_, witness_, false); });
    const std::lock_guard guard{mutex_};
    if (!database) {
        failed_ = std::move(database).error();
        return *failed_;
    }
    database_ = *std::move(database);
    failed_.reset();
    return {};
}

Result<void> MarkStore::state() const {
    const std::lock_guard guard{mutex_};
    if (auto held = lock_->check(); !held) return held;
    if (failed_) return *failed_;
    return {};
}

// Concurrent writes are either synced with this one or not counted, because RocksDB publishes a
// sequence number after the sync of its write.
Result<void> MarkStore::write_witness() {
    const auto newest = database_.db->GetLatestSequenceNumber();
    if (newest <= witnessed_) return {};
    if (auto written = witness_.write_at(0, sealed_number(witness_key, newest)); !written)
        return fail(std::move(written).error());
    witnessed_ = newest;
    return {};
}

Result<void> MarkStore::fail(Error error) {
    if (!failed_) failed_ = std::move(error);
    return *failed_;
}

}  // namespace mortise::storage
