// Opens the log and checks it. Any difference from what was acknowledged is damage: without it a
// node might vote twice, or lose entries that it acknowledged.
#include <string>
#include <utility>

#include "core/codec/configuration_codec.hpp"
#include "storage/log/rocks_log_store.hpp"
#include "storage/log/torn_tail.hpp"

namespace mortise::storage {

namespace {

bool is_untouched(const Meta& meta) {
    return meta.last == EntryMark{} && meta.hard_state == core::HardState{};
}

class Recovery {
public:
    Recovery(RocksDatabase& database, const Meta& meta) : database_{database}, meta_{meta} {}

    Result<RecoveredLog> run() {
        auto result = read_head();
        if (result) result = read_hard_state();
        if (result) result = read_entries();
        if (result) result = compare_with_witness();
        if (!result) return std::move(result).error();
        return std::move(log_);
    }

private:
    Result<void> read_head() {
        std::string row;
        auto status = database_.db->Get({}, rocksdb::Slice{log_head_key.data(), 1}, &row);
        if (status.IsNotFound()) return make_head();
        if (!status.ok()) return to_error(status, database_.path);
        auto head = decode_log_head(row);
        if (!head) return unreadable("the record of where it begins", row);
        log_.head = *std::move(head);
        if (log_.head.node != meta_.node || log_.head.incarnation != meta_.incarnation)
            return damaged("it belongs to another directory");
        return {};
    }

    Result<void> make_head() {
        if (!is_untouched(meta_)) return damaged("it is empty, but was not");
        log_.head.node = meta_.node;
        log_.head.incarnation = meta_.incarnation;
        rocksdb::WriteOptions synced;
        synced.sync = true;
        auto status = database_.db->Put(synced, rocksdb::Slice{log_head_key.data(), 1},
                                        encode_log_head(log_.head));
        if (!status.ok()) return to_error(status, database_.path);
        return {};
    }

    Result<void> read_hard_state() {
        std::string row;
        auto status = database_.db->Get({}, rocksdb::Slice{hard_state_key.data(), 1}, &row);
        if (status.IsNotFound()) return {};
        if (!status.ok()) return to_error(status, database_.path);
        const auto state = decode_hard_state(row);
        if (!state) return unreadable("the hard state", row);
        log_.hard_state = *state;
        return {};
    }

    Result<void> read_entries() {
        rocksdb::ReadOptions once;
        once.fill_cache = false;
        const std::unique_ptr<rocksdb::Iterator> rows{database_.db->NewIterator(once)};
        // Reading does not start at the first row, because rows before the base may still exist.
        for (rows->Seek(entry_key(log_.head.base.id.index.next())); rows->Valid(); rows->Next()) {
            const auto index = index_of_key(rows->key().ToStringView());
            if (!index) break;  // after the last entry
            auto read = read_entry(*index, rows->value().ToStringView());
            if (!read) return read;
        }
        if (!rows->status().ok()) return to_error(rows->status(), database_.path);
        return {};
    }

    Result<void> read_entry(core::LogIndex index, std::string_view bytes) {
        const auto before = log_.last();
        const auto name = "entry " + std::to_string(index.raw());
        if (index != before.id.index.next())
            return damaged("the entry before " + name + " is lost");
        auto row = decode_entry(index, bytes);
        if (!row) return unreadable(name, bytes);
        auto& entry = row->entry;
        if (row->previous != before.checksum || entry.id.term < before.id.term)
            return damaged(name + " followed another entry than the one before it");
        const bool has_configuration = entry.kind == core::EntryKind::configuration;
        if (has_configuration && !core::decode_configuration(entry.payload))
            return damaged(name + " is no configuration");
        log_.entries.push_back(std::move(entry));
        return {};
    }

    Result<void> compare_with_witness() {
        if (!has_last()) {
            return damaged("entry " + std::to_string(meta_.last.id.index.raw()) +
                           ", which was synced, is missing or another");
        }
        const auto& ours = log_.hard_state;
        const auto& theirs = meta_.hard_state;
        const bool same_vote = theirs.voted_for == ours.voted_for || !theirs.voted_for.is_set();
        if (ours.term > theirs.term || (ours.term == theirs.term && same_vote)) return {};
        return damaged("the vote of term " + std::to_string(theirs.term.raw()) +
                       ", which was synced, is missing or another");
    }

    [[nodiscard]] bool has_last() const {
        const auto& id = meta_.last.id;
        const auto base = log_.base();
        if (id.index < base.id.index) return true;
        if (id.index == base.id.index) return meta_.last == base;
        if (id.index > log_.last().id.index) return false;
        const auto& entry = log_.entries[id.index.raw() - base.id.index.raw() - 1];
        return meta_.last == EntryMark{entry.id, entry.checksum};
    }

    [[nodiscard]] Error damaged(const std::string& what) const {
        return make_error(Errc::damaged, database_.path.string() + ": " + what);
    }

    [[nodiscard]] Error unreadable(const std::string& what, std::string_view row) const {
        if (!is_of_later_version(row)) return damaged(what + " is damaged");
        return make_error(Errc::newer_format,
                          database_.path.string() + ": " + what + " is of a later version");
    }

    RocksDatabase& database_;
    const Meta& meta_;
    RecoveredLog log_;
};

}  // namespace

EntryMark RecoveredLog::last() const {
    return entries.empty() ? base() : EntryMark{entries.back().id, entries.back().checksum};
}

core::ClusterId RecoveredLog::cluster() const {
    if (head.base.configuration.is_formed()) return head.base.configuration.cluster;
    for (const auto& entry : entries) {
        if (entry.kind != core::EntryKind::configuration) continue;
        if (const auto found = core::decode_configuration(entry.payload)) return found->cluster;
    }
    return {};
}

Result<RocksDatabase> RocksLogStore::open(const std::filesystem::path& path,
                                          const std::shared_ptr<rocksdb::FileSystem>& files,
                                          const Meta& meta, const LogRoom& room,
                                          const FileEnds& ends) {
    auto database = prepare_database(path, ends_early(files, ends));
    if (!database) return database;
    auto options = log_options(*database->env, database->errors);
    options.create_if_missing = is_untouched(meta);
    const bool is_small = room.memtable_bytes < LogRoom{}.memtable_bytes;
    // A compaction would begin at once, and put the large memtable in force again when it ends: one
    // that has no bound on a small volume.
    options.disable_auto_compactions = is_small;
    if (auto opened = open_after_crash(std::move(options), *database, ends); !opened)
        return std::move(opened).error();
    // Only now: with small memtables the opening would write out what was purged of a longer log.
    if (!is_small) return database;
    auto status = set_memtable_bytes(*database->db, room.memtable_bytes);
    if (!status.ok()) return to_error(status, path);
    return database;
}

Result<RecoveredLog> RocksLogStore::recover(RocksDatabase& database, const Meta& meta) {
    return Recovery{database, meta}.run();
}

}  // namespace mortise::storage
